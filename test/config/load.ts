import { type Inputs, loadConfig } from '../../src/config/config.ts'

/** Loads with nothing set but what the test says. */
export function load(some: Partial<Inputs> = {}) {
  return loadConfig({
    flags: {},
    env: {},
    fileText: undefined,
    filePath: 'counterfoil.toml',
    readFile: () => undefined,
    ...some,
  })
}

export function configOf(some: Partial<Inputs> = {}) {
  const loaded = load(some)
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}

export function problemsOf(some: Partial<Inputs>): string[] {
  const loaded = load(some)
  return 'problems' in loaded ? loaded.problems : []
}

export const upstream = `
[[upstreams]]
id = "local"
base_url = "http://127.0.0.1:8000/v1/"
`
export const model = `
[[models]]
id = "acme/small"
kind = "chat"
route = ["local:small:8b"]
context_tokens = 128_000
max_output_tokens = 4096
input_pusd = 150_000
output_pusd = 600_000
`
