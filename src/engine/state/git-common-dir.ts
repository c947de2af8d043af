/** Asks git which repository a directory belongs to. No shell; `GIT_*` of the caller is dropped, or it could point to another repository. */
import { execFile } from 'node:child_process'
import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { OpenClaudeError } from '../../errors.ts'

const GIT_TIMEOUT_MS = 30_000

/**
 * Real path of the git common directory: linked worktrees of one repository share it, two clones do not. Null outside of any repository, and without git.
 * @param workdir an existing absolute directory.
 * @throws OC_WORKDIR_INVALID when git refuses for another reason, for example an owner it does not trust.
 */
export async function findGitCommonDir(workdir: string): Promise<string | null> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')))
  const { error, stdout, stderr } = await new Promise<{ readonly error: Error | null, readonly stdout: string, readonly stderr: string }>((settle) => {
    execFile('git', ['rev-parse', '--git-common-dir'], {
      cwd: workdir, env: { ...env, LC_ALL: 'C' }, timeout: GIT_TIMEOUT_MS, encoding: 'utf8',
    }, (failure, out, err) => settle({ error: failure, stdout: out, stderr: err }))
  })
  if (error === null) return realpath(resolve(workdir, stdout.replace(/\r?\n$/, '')))
  if (('code' in error && error.code === 'ENOENT') || /not a git repository/i.test(stderr)) return null
  const said = stderr.trim() === '' ? error.message : stderr.trim()
  throw new OpenClaudeError('OC_WORKDIR_INVALID', `${workdir}: git could not tell which repository it belongs to: ${said}`, {
    subject: workdir, fix: 'Make `git rev-parse --git-common-dir` work there, then try again.', cause: error,
  })
}
