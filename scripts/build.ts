/** Builds `src/` to `lib/`: compiles with tsc, writes the JSON Schemas, then makes the commands executable. */
import { spawnSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')

rmSync(join(root, 'lib'), { recursive: true, force: true })
const built = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit', cwd: root })
if (built.status !== 0) process.exit(built.status ?? 1)
const schemas = spawnSync(process.execPath, [join(root, 'scripts', 'generate-schemas.ts')], { stdio: 'inherit', cwd: root })
if (schemas.status !== 0) process.exit(schemas.status ?? 1)
for (const bin of ['cli/main.js', 'simulator/main.js']) chmodSync(join(root, 'lib', bin), 0o755)
