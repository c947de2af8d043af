/** The parts of `process` a launch of the simulator uses. */
export type SimHost = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'cwd' | 'pid' | 'exit' | 'on' | 'removeAllListeners' | 'kill' | 'getuid'>
