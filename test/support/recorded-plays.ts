/** What the mock models of the recordings did, as plays. Waits are scaled down; texts are those of the recordings. */
import type { Step } from '../../src/simulator/scenario.ts'

const apiError = (text: string, error: string): Step => ({ do: 'api-error', text, error })
const retry = (status: number, error: string, count = 2, maxRetries = 2): Step => {
  return { do: 'api-retry', delaysMs: Array.from({ length: count }, () => 1), status, error, maxRetries }
}
const body = (status: number, type: string): string => `API Error: ${status} {"error":{"message":"mock answered ${status}","type":"${type}","code":"${type}"}}`
const AUTH = (status: number): string => `Failed to authenticate. API Error: Authentication failed (status ${status}). Check your API key configuration.`
const TRANSPORT = 'API Error: OpenAI API transport error: fetch failed (code=UND_ERR_SOCKET) Hint: Network transport failed before a provider response was received.'
const CUT_OFF = 'This reply is cut off '.repeat(6)
const SLOW = 'a slow stream '.repeat(20)
const OK: readonly Step[] = [{ do: 'text', text: 'Finished: step 0.' }]
const ECHO: readonly Step[] = [
  { do: 'text', text: 'Running it.' },
  { do: 'bash', command: 'echo hello-from-bash' },
  { do: 'text', text: 'The command printed hello-from-bash.' },
]
const NO_USAGE = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0 }
const HANG: readonly Step[] = [{ do: 'init' }, { do: 'hang' }]
const HELPER = { do: 'helper', description: 'look around', prompt: 'HELPER-PROMPT: say what you see.' } as const

const inBackground = (command: string): Step[] => [
  { do: 'bash', command, description: 'bg', background: true },
  { do: 'text', text: 'Started in background.' },
]

export const PLAYS_BY_MODEL: Readonly<Record<string, readonly Step[]>> = {
  'mock-ok': OK,
  'mock-bash-echo': ECHO,
  'mock-bash-forever': Array.from({ length: 6 }, (_, index): Step => ({ do: 'bash', command: `echo again ${index}` })),
  'mock-write-file': [
    { do: 'write', path: 'made-by-model.txt', content: 'first line\n' },
    { do: 'text', text: 'Wrote the file.\n\n## Report\nFiles changed: made-by-model.txt' },
  ],
  'mock-bad-tool': [{ do: 'tool', name: 'NoSuchTool', isError: true }, { do: 'text', text: 'That tool does not exist.' }],
  'mock-size': [{ do: 'text', text: 'Got it.' }],
  'mock-401': [retry(401, 'authentication_failed'), apiError(AUTH(401), 'authentication_failed')],
  'mock-403': [apiError(AUTH(403), 'authentication_failed')],
  'mock-404': [apiError(`There's an issue with the selected model (mock-404). It may not exist or you may not have access to it. Run --model to pick a different model.`, 'invalid_request')],
  'mock-429': [retry(429, 'rate_limit'), apiError(body(429, 'rate_limit_error'), 'rate_limit')],
  'mock-500': [retry(500, 'server_error'), apiError(body(500, 'api_error'), 'server_error')],
  'mock-503': [apiError(body(503, 'api_error'), 'server_error')],
  'mock-drop-before': [apiError(TRANSPORT, 'unknown')],
  'mock-drop-mid': [{ do: 'text', text: CUT_OFF }, { do: 'result', fields: { usage: NO_USAGE } }],
  'mock-empty': [{ do: 'text', text: '' }],
  'mock-flaky-429': [retry(429, 'rate_limit'), { do: 'text', text: 'Recovered after two refusals.' }],
  'mock-flaky-500': [retry(500, 'server_error'), { do: 'text', text: 'Recovered after two server errors.' }],
  'mock-too-long': [apiError(`API Error: 400 {"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 90000 tokens.",`
    + '"type":"invalid_request_error","code":"context_length_exceeded"}}', 'invalid_request')],
  'mock-hang-headers': HANG,
  'mock-hang-mid': HANG,
  'mock-hang-ping': HANG,
  'mock-hang-stream': HANG,
  'mock-bash-chatty': [
    { do: 'bash', command: 'for i in $(seq 1 20); do echo line $i; sleep 0.02; done' },
    { do: 'text', text: 'The chatty command ended.' },
  ],
  'mock-bash-long': [{ do: 'tool', name: 'Bash', input: { command: 'sleep 40', description: 'wait' }, isError: true }, { do: 'text', text: 'The long command ended.' }],
  'mock-chatty40': [{ do: 'bash', command: 'until [ -e go ]; do sleep 0.02; done' }, { do: 'text', text: 'Ended.' }],
  'mock-slow': [{ do: 'text', text: SLOW, chunks: 35, chunkMs: 6 }],
  'mock-multi': [
    ...[0, 1, 2, 3, 4].flatMap((step): Step[] => [{ do: 'text', text: `Step ${step}` }, { do: 'bash', command: `sleep 0.1; echo s${step}` }]),
    { do: 'text', text: 'All five steps done.' },
  ],
  'mock-task-agent': [{ ...HELPER, steps: [], answer: 'Finished: step 0.' }, { do: 'text', text: 'The helper is done.' }],
  'mock-task-agent-hang': [{ ...HELPER, steps: [{ do: 'hang' }] }],
  'mock-work': [
    { do: 'text', text: 'Step 1.' },
    { do: 'bash', command: 'echo one' },
    { do: 'text', text: 'Step 2.' },
    { do: 'bash', command: 'sleep 30' },
  ],
  'mock-after-sigint': [{ do: 'text', text: 'Resumed fine.' }],
  'mock-after-sigkill': [{ do: 'text', text: 'Resumed fine.' }],
  'mock-after-sigterm': [{ do: 'text', text: 'Resumed fine.' }],
  'mock-bigtimeout': [
    { do: 'bash', command: 'sleep 1', description: 'x', timeoutMs: 250 },
    { do: 'text', text: 'Timed out tool.' },
    { do: 'next-turn' },
    { do: 'bash', command: 'sleep 30', description: 'x', timeoutMs: 250 },
  ],
  'mock-bg25': [
    ...['sleep 0.4', 'sleep 0.4', 'sleep 0.4'].flatMap((command): Step[] => [...inBackground(command), { do: 'next-turn' }]),
    { do: 'heartbeats', on: false },
    ...inBackground('sleep 30'),
  ],
  'mock-permtool': [{ do: 'permission', tool: 'Bash', input: { command: 'touch made.txt', description: 'x' }, afterMs: 0, toolMs: 300 }, { do: 'text', text: 'Done.' }],
  'mock-writer': [{ do: 'permission', tool: 'Write', input: { file_path: 'x.txt', content: 'x' }, afterMs: 350 }, { do: 'text', text: 'Written.' }],
}
