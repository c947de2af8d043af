import { spawnSync } from 'node:child_process'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readGraphFile } from '../../src/engine/documents/graph-file.ts'
import { MAX_DOCUMENT_BYTES, readDocument } from '../../src/engine/documents/read-document.ts'
import { failureOf } from '../support/failure.ts'
import { tempFile, tempFolder } from '../support/temp-folder.ts'

const JSON_GRAPH = '{ "tasks": [ { "id": "a" }, { "id": "b", "dependencies": ["a"] } ] }'
const YAML_GRAPH = 'tasks:\n  - id: a\n  - { id: b, dependencies: [a] }\n'

const read = (name: string, content: string | Uint8Array): ReturnType<typeof readGraphFile> => readGraphFile(tempFile(name, content), { trusted: true })

/** `line:column path message` of the faults; the path of the file is cut from the message. */
function failure(name: string, content: string | Uint8Array): { readonly code: string, readonly message: string, readonly faults: readonly string[] } {
  const path = tempFile(name, content)
  const { code, message, faults } = failureOf(() => readGraphFile(path, { trusted: true }))
  return {
    code,
    message: (message.split('\n')[0] ?? '').replace(path, '<file>'),
    faults: faults.map(fault => `${fault.line}:${fault.column} ${fault.path} ${fault.message}`),
  }
}

describe('a graph file is read (R-53)', () => {
  it.each([
    ['g.json', JSON_GRAPH, 'json'], ['g.JSON', JSON_GRAPH, 'json'], ['g.yaml', YAML_GRAPH, 'yaml'], ['g.yml', YAML_GRAPH, 'yaml'],
    ['g.txt', `\n ${JSON_GRAPH}`, 'json'], ['g.txt', YAML_GRAPH, 'yaml'], ['g', JSON_GRAPH.slice(11, -2), 'json'], ['g.yaml', JSON_GRAPH, 'yaml'],
  ])('%s with %j as %s', (name, content, format) => {
    const file = read(name, content)
    expect(file.format).toBe(format)
    expect(file.text).toBe(content)
    expect(file.graph.tasks.map(({ id, dependencies }) => [id, dependencies])).toEqual([['a', []], ['b', ['a']]])
  })

  it('without a byte order mark', () => {
    expect(read('g.json', `\ufeff${JSON_GRAPH}`).text).toBe(JSON_GRAPH)
  })

  it('with anchors and comments in YAML', () => {
    const { graph } = read('g.yaml', '# port\n- &base\n  id: a\n  paths: &p [src/**]\n- id: b\n  paths: *p\n')
    expect(graph.tasks.map(task => task.paths)).toEqual([['src/**'], ['src/**']])
  })
})

describe('a file that can\'t be read', () => {
  it('is named when it does not exist', () => {
    const path = join(tempFolder(), 'none.json')
    expect(failureOf(() => readGraphFile(path, { trusted: true }))).toEqual({
      code: 'OC_GRAPH_UNREADABLE', message: `Graph file ${path} does not exist.`, faults: [],
    })
  })

  it('is refused when it is a directory or a named pipe, without waiting for a writer', () => {
    const folder = tempFolder()
    expect(failureOf(() => readGraphFile(folder, { trusted: true })).message).toBe(`Graph file ${folder} is a directory, not a file`)
    const pipe = join(folder, 'pipe')
    spawnSync('mkfifo', [pipe])
    expect(failureOf(() => readGraphFile(pipe, { trusted: true })).message).toBe(`Graph file ${pipe} is no regular file`)
  })

  it('is refused above 64 MiB before it is read (R-53)', () => {
    const path = tempFile('big.json', '')
    truncateSync(path, MAX_DOCUMENT_BYTES + 1)
    expect(failureOf(() => readGraphFile(path, { trusted: true })).message).toBe(`Graph file ${path} has 67108865 bytes; at most 67108864 are read`)
    writeFileSync(path, '[]')
    expect([readDocument(path, 1).kind, readDocument(path, 2).kind]).toEqual(['unreadable', 'document'])
  })

  it('is refused when it is no UTF-8, but may hold the replacement character itself', () => {
    expect(failure('g.json', Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d])).message).toBe('Graph file <file> is not UTF-8 text; save it as UTF-8')
    expect(read('g.json', '[{ "id": "a", "title": "\ufffd" }]').graph.tasks[0]?.title).toBe('\ufffd')
  })

  it('is refused with a NUL character, raw or escaped (F24)', () => {
    expect(failure('g.yaml', '- id: a\n  title: "x\0y"\n')).toEqual({
      code: 'OC_GRAPH_UNREADABLE', message: 'Graph file <file> holds a NUL character:', faults: ['2:12 $ A NUL character is not allowed.'],
    })
    expect(failure('g.json', '[{ "id": "a", "title": "\\u0000" }]').faults).toEqual(['1:15 $[0].title Task "a": title must not hold a NUL character; got "\\u0000".'])
    expect(failure('g.yaml', '- id: a\n  title: "\\0"\n').faults).toEqual(['2:3 $[0].title Task "a": title must not hold a NUL character; got "\\u0000".'])
  })
})

describe('malformed JSON is reported with its place (R-53)', () => {
  it.each([
    ['', '1:1 $ The text ends where a value was expected.'],
    ['{', '1:2 $ The text ends where a key in double quotes was expected.'],
    ['{\n  "tasks": [\n    { "id": "a" },\n  ]\n}', '4:3 $ Expected a value, found "]"; remove the comma before it.'],
    ['{ "a": 1, }', '1:11 $ Expected a key in double quotes, found "}"; remove the comma before it.'],
    ['{ a: 1 }', '1:3 $ Expected a key in double quotes, found "a".'],
    ['{ "a" 1 }', '1:7 $ Expected ":" after a key, found "1".'],
    ['[1 2]', '1:4 $ Expected "," or "]", found "2".'],
    ['[1, 02]', '1:5 $ Expected a value, found "0".'],
    ['[.5]', '1:2 $ Expected a value, found ".".'],
    ['[nul]', '1:2 $ Expected a value, found "n".'],
    ['[] x', '1:4 $ Expected the end of the text, found "x".'],
    ['["a\nb"]', '1:4 $ A text must not hold a raw control character; write \\n.'],
    ['["\u0001"]', '1:3 $ A text must not hold a raw control character; write \\u0001.'],
    ['["\\x"]', '1:3 $ Unknown escape in a text; a backslash itself is written \\\\.'],
    ['["\\u12"]', '1:3 $ Unknown escape in a text; a backslash itself is written \\\\.'],
    ['["abc', '1:2 $ This text has no closing double quote.'],
    ['[ // no\n]', '1:3 $ JSON has no comments; a .yaml file may have them.'],
    ['[{"id": "a", "id": "b"}]', '1:14 $ The key of $[0].id stands twice in one object; the earlier value would be lost.'],
    ['[{"id": "a:\\" ", "\\u0069d": {}}]', '1:18 $ The key of $[0].id stands twice in one object; the earlier value would be lost.'],
    ['{"a": {"b": [1, {"c": tru}]}}', '1:23 $ Expected a value, found "t".'],
  ])('%j', (content, fault) => {
    expect(failure('g.json', content)).toEqual({ code: 'OC_GRAPH_UNREADABLE', message: 'Graph file <file> is no well-formed JSON:', faults: [fault] })
  })

  it('and keys that stand twice are not looked for in texts', () => {
    const graph = '[{"id": "a", "title": "\\"id\\": \\"b\\"", "description": "x\\\\"}, {"id": "b"}]'
    expect(read('g.json', graph).graph.tasks.map(task => task.id)).toEqual(['a', 'b'])
  })

  it('also when it is nested 200,000 levels deep', () => {
    expect(failure('g.json', '['.repeat(200_000)).faults).toEqual(['1:200001 $ The text ends where a value was expected.'])
  })
})

describe('malformed YAML is reported with its place', () => {
  it.each([
    ['tasks:\n - id: a\n  b: 1\n', /^3:\d+ \$ /],
    ['- id: a\n  id: b\n', /^2:3 \$ Map keys must be unique/],
    ['- id: a\n---\n- id: b\n', /^2:1 \$ A second document starts here; a file holds one\.$/],
    ['- !unknown a\n', /^1:3 \$ Unresolved tag/],
    ['&t\n- id: a\n- *t\n', /^3:3 \$ The alias \*t stands inside of what it names\.$/],
    ['tasks: &t\n  - id: a\n    paths: [[*t]]\n', /^3:14 \$ The alias \*t stands inside of what it names\.$/],
    ['- *nowhere\n', /^1:3 \$ There is no anchor &nowhere before this alias\.$/],
  ])('%j', (content, fault) => {
    const found = failure('g.yaml', content)
    expect({ ...found, faults: found.faults.slice(0, 1) }).toEqual({
      code: 'OC_GRAPH_UNREADABLE', message: 'Graph file <file> is no well-formed YAML:', faults: [expect.stringMatching(fault)],
    })
  })

  it('refuses aliases that multiply, and nesting beyond the parser', () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]', ...Array.from('bcdefgh', (name, at) => `${name}: &${name} [${`*${'abcdefg'[at]}, `.repeat(10)}]`)].join('\n')
    expect(failure('g.yaml', bomb).code).toBe('OC_GRAPH_UNREADABLE')
    expect(failure('g.yaml', '['.repeat(50_000)).code).toBe('OC_GRAPH_UNREADABLE')
  })

  it('treats an empty file as a graph without tasks', () => {
    expect(failure('g.yaml', '# nothing\n')).toEqual({
      code: 'OC_GRAPH_INVALID', message: 'Graph file <file> has 1 fault:',
      faults: ['undefined:undefined $ A graph must be a list of tasks or an object with tasks; got null.'],
    })
  })
})

describe('faults of the content are listed together with their places (T24)', () => {
  const shown = (faults: readonly string[]): readonly string[] => faults.map(fault => fault.replace(/[;,.] .*|\.$/, ''))

  it('in JSON', () => {
    const { message, faults } = failure('g.json', [
      '{',
      '  "tasks": [',
      '    { "id": "a", "dependancies": [] },',
      '    { "id": "b", "dependencies": ["b", "x"] },',
      '    { },',
      '    { "id": "a" }',
      '  ]',
      '}',
    ].join('\n'))
    expect(message).toBe('Graph file <file> has 5 faults:')
    expect(shown(faults)).toEqual([
      '3:18 $.tasks[0].dependancies Task "a": "dependancies" is no key of a task',
      '4:35 $.tasks[1].dependencies[0] Task "b": it depends on itself',
      '4:40 $.tasks[1].dependencies[1] Task "b": there is no task of that id to depend on',
      '5:5 $.tasks[2].id Task 3: id is missing',
      '6:7 $.tasks[3].id Task 4: the id "a" is used twice',
    ])
  })

  it('in YAML', () => {
    const { message, faults } = failure('g.yaml', [
      '# port',
      'tasks:',
      '  - { id: a, dependancies: [] }',
      '  - { id: b, dependencies: [b, x] }',
      '  - {}',
      '  - { id: a }',
    ].join('\n'))
    expect(message).toBe('Graph file <file> has 5 faults:')
    expect(shown(faults)).toEqual([
      '3:14 $.tasks[0].dependancies Task "a": "dependancies" is no key of a task',
      '4:29 $.tasks[1].dependencies[0] Task "b": it depends on itself',
      '4:32 $.tasks[1].dependencies[1] Task "b": there is no task of that id to depend on',
      '5:5 $.tasks[2].id Task 3: id is missing',
      '6:7 $.tasks[3].id Task 4: the id "a" is used twice',
    ])
  })

  it('follows an alias to the place where the value is written', () => {
    expect(failure('g.yaml', '- id: a\n  paths: &p [/x]\n- id: b\n  paths: *p\n').faults.map(fault => fault.split(' ', 2).join(' '))).toEqual(['2:14 $[0].paths[0]', '2:14 $[1].paths[0]'])
  })

  it('shows at most 50 in the message and keeps all in the error', () => {
    const path = tempFile('g.json', JSON.stringify(Array.from({ length: 60 }, () => ({}))))
    const { message, faults } = failureOf(() => readGraphFile(path, { trusted: true }))
    expect(faults).toHaveLength(60)
    expect(message.split('\n').at(-1)).toBe('  … and 10 more')
  })
})
