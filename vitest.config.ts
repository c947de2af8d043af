import { defineConfig } from 'vitest/config'

const project = (name: string, options: { readonly testTimeout: number, readonly fileParallelism?: boolean }): {
  readonly test: Record<string, unknown>
} => ({
  test: {
    name,
    include: [`test/${name}/**/*.spec.ts`],
    globalSetup: name === 'built' ? ['test/support/require-build.ts'] : [],
    hookTimeout: options.testTimeout,
    ...options,
  },
})

const config: ReturnType<typeof defineConfig> = defineConfig({
  test: {
    projects: [
      project('unit', { testTimeout: 20_000 }),
      project('property', { testTimeout: 120_000 }),
      project('process', { testTimeout: 120_000 }),
      project('built', { testTimeout: 120_000 }),
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
    },
  },
})

export default config
