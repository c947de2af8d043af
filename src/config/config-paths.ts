/**
 * Makes the folders of a configuration absolute and chooses the state directory (R-30, SEMANTICS 8). Whether they exist is
 * checked by the pre-flight.
 */
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { CrossRules } from './cross-rules.ts'

export interface PathContext {
  readonly cwd: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const PRODUCT = 'dsh-openclaude'

export function resolvePaths({ config, origins, fault, warn }: CrossRules, context: PathContext): void {
  const absolute = (base: string, path: string): string => resolve(base, expandHome(path, context.home))
  config.workdir = absolute(context.cwd, config.workdir)
  config.addDirs = config.addDirs.map(path => absolute(config.workdir, path))
  const [program, ...args] = config.executable
  if (program !== undefined && /[/\\]|^~/.test(program)) config.executable = [absolute(context.cwd, program), ...args]
  config.stateDir = config.stateDir === '' ? defaultStateDir(context) : absolute(context.cwd, config.stateDir)
  if (config.storePath !== '') useStorePath(absolute(config.workdir, config.storePath))
  if (isInside(config.workdir, config.stateDir)) {
    warn(`stateDir ${config.stateDir} is inside workdir, so a "git clean" of a child or a commit can take it.`)
  }

  function useStorePath(file: string): void {
    if (!isInside(config.workdir, file)) {
      fault('storePath', `must stay inside workdir ${config.workdir}; got ${file}`, 'use stateDir for a folder elsewhere')
    } else if (origins.stateDir === 'default') {
      config.stateDir = dirname(file)
      origins.stateDir = origins.storePath
      warn(`storePath is deprecated; its folder ${config.stateDir} is used as stateDir. Write stateDir instead.`)
    } else if (origins.stateDir === origins.storePath) {
      fault('storePath', 'can\'t stand beside stateDir', 'remove storePath')
    } else {
      warn(`storePath (${origins.storePath}) is deprecated and ignored, since stateDir (${origins.stateDir}) is set.`)
    }
  }
}

/** `$XDG_STATE_HOME/dsh-openclaude`, else `~/.local/state/dsh-openclaude`. */
function defaultStateDir(context: PathContext): string {
  return join(baseDirectory(context, 'XDG_STATE_HOME', join('.local', 'state')), PRODUCT)
}

/** `$XDG_CONFIG_HOME/dsh-openclaude/config.yaml`, else `~/.config/dsh-openclaude/config.yaml`. */
export function userConfigPath(context: PathContext): string {
  return join(baseDirectory(context, 'XDG_CONFIG_HOME', '.config'), PRODUCT, 'config.yaml')
}

/** The XDG rule: a relative value counts as not set. */
function baseDirectory(context: PathContext, variable: string, otherwise: string): string {
  const value = context.env[variable] ?? ''
  return isAbsolute(value) ? value : join(context.home, otherwise)
}

function expandHome(path: string, home: string): string {
  return path === '~' ? home : path.startsWith('~/') ? join(home, path.slice(2)) : path
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || !(way === '..' || way.startsWith('../') || isAbsolute(way))
}
