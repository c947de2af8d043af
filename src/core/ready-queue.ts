/**
 * The ready tasks as a heap: higher priority first, then the longer remaining path, then the order of the graph (SEMANTICS 13).
 * A task can be taken out at any place, so that the queue depends on the entries alone and a replay gives an equal one.
 */
import type { ReadyQueue, TaskState } from './run-types.ts'

type Tasks = readonly TaskState[]

export function newReadyQueue(): ReadyQueue {
  return { heap: [], place: [] }
}

/** The task to start next, or undefined. */
export function firstReady(queue: ReadyQueue, tasks: Tasks): TaskState | undefined {
  const index = queue.heap[0]
  return index === undefined ? undefined : tasks[index]
}

export function addReady(queue: ReadyQueue, tasks: Tasks, index: number): void {
  while (queue.place.length <= index) queue.place.push(-1)
  if (queue.place[index] !== -1) return
  queue.heap.push(index)
  rise(queue, tasks, queue.heap.length - 1)
}

export function removeReady(queue: ReadyQueue, tasks: Tasks, index: number): void {
  const at = queue.place[index] ?? -1
  if (at < 0) return
  const moved = queue.heap.pop()
  queue.place[index] = -1
  if (moved === undefined || moved === index) return
  put(queue, at, moved)
  rise(queue, tasks, at)
  sink(queue, tasks, queue.place[moved] ?? at)
}

function before(tasks: Tasks, left: number, right: number): boolean {
  const a = tasks[left]
  const b = tasks[right]
  if (a === undefined || b === undefined) return false
  if (a.spec.priority !== b.spec.priority) return a.spec.priority > b.spec.priority
  if (a.remainingPath !== b.remainingPath) return a.remainingPath > b.remainingPath
  return left < right
}

function put(queue: ReadyQueue, at: number, index: number): void {
  queue.heap[at] = index
  queue.place[index] = at
}

function rise(queue: ReadyQueue, tasks: Tasks, from: number): void {
  const index = queue.heap[from]
  if (index === undefined) return
  let at = from
  while (at > 0) {
    const parent = (at - 1) >> 1
    const above = queue.heap[parent] ?? index
    if (!before(tasks, index, above)) break
    put(queue, at, above)
    at = parent
  }
  put(queue, at, index)
}

function sink(queue: ReadyQueue, tasks: Tasks, from: number): void {
  const index = queue.heap[from]
  if (index === undefined) return
  let at = from
  for (;;) {
    let child = at * 2 + 1
    if (child >= queue.heap.length) break
    const right = queue.heap[child + 1]
    if (right !== undefined && before(tasks, right, queue.heap[child] ?? right)) child += 1
    const below = queue.heap[child]
    if (below === undefined || !before(tasks, below, index)) break
    put(queue, at, below)
    at = child
  }
  put(queue, at, index)
}
