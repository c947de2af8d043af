#!/usr/bin/env node
/** The command `dsh-openclaude`. Refuses a Node that is too old before anything else is loaded. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 19) || major === 23) {
  process.stderr.write(`dsh-openclaude: Node ${process.versions.node} is too old; it needs ^22.19.0 or >=24. Put a newer node first on PATH.\n`)
  process.exitCode = 3
} else if (process.platform === 'win32') {
  process.stderr.write('dsh-openclaude: Windows is not supported; use Linux (or WSL).\n')
  process.exitCode = 3
} else {
  const { runCommandLine } = await import('./program.ts')
  const { surviveClosedOutput } = await import('./output.ts')
  const lost = surviveClosedOutput()
  process.exitCode = await runCommandLine(process.argv.slice(2))
  process.once('exit', (code) => {
    if (code === 0 && lost()) process.exitCode = 3
  })
  // After a journal that failed, children live on under their keepers, and what follows them must not keep this process (F6).
  if (process.exitCode === 3) process.stdout.write('', () => process.stderr.write('', () => process.exit()))
}
