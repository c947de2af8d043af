/** `run <graph|"request">`. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readGraphFile } from '../../engine/documents/graph-file.ts'
import { startRun } from '../../engine/runs/runs.ts'
import type { Graph } from '../../core/graph-types.ts'
import { OpenClaudeError } from '../../errors.ts'
import { PRODUCT_VERSION } from '../../version.ts'
import { deferredView, driveRun, type DriveOptions } from '../drive-run.ts'
import { configOf, type CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'

export async function runCommand(
  [target = '']: readonly string[],
  options: CommonOptions & DriveOptions & { readonly new?: boolean },
  output: Output,
): Promise<number> {
  const config = configOf(options)
  const { graph, graphPath } = await graphOf(target)
  const view = deferredView()
  const active = await startRun({
    graph, graphPath, config, version: PRODUCT_VERSION, observers: [view], abortInterrupted: options.new === true,
  })
  return driveRun(active, view, options, output)
}

/** A path that exists, or looks like one, is a graph file; everything else is one request. */
export async function graphOf(target: string): Promise<{ readonly graph: Graph, readonly graphPath: string | null }> {
  const path = resolve(target)
  if (looksLikePath(target) || await exists(path)) return { graph: readGraphFile(path, { trusted: true }).graph, graphPath: path }
  if (target.trim() === '') {
    throw new OpenClaudeError('OC_USAGE', 'run needs a graph file or a request; it got an empty text.', { fix: 'dsh-openclaude run graph.json' })
  }
  return { graph: requestGraph(target), graphPath: null }
}

export function requestGraph(request: string): Graph {
  const title = request.trim().split('\n', 1)[0] ?? ''
  return {
    tasks: [{
      id: 'request', title: title.slice(0, 120), description: request, acceptanceCriteria: [], dependencies: [], priority: 0, assignee: 'openclaude',
    }],
  }
}

function looksLikePath(target: string): boolean {
  return /\.(?:json|ya?ml)$/i.test(target) || (/^[./~]/.test(target) && !/\s/.test(target))
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile()
  } catch {
    // Whatever can't be looked at is not a graph file here; readGraphFile names the reason for texts that look like a path.
    return false
  }
}
