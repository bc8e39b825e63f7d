import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type WorldOptions, world } from '../../support/world.ts'

/** Two shards, each with one half of the slots. */
export const halves = `[s3]
slots = "0-511"
url = "http://127.0.0.1:3"
[s4]
slots = "512-1023"
`

/** Wallets of the first well-known test accounts: in the slot 895, of s4, and in 506, of s3. */
export const ofS4 = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
export const ofS3 = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
/** The private key of {@link ofS3}, which everybody has. */
export const keyOfS3 = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-shards-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** A file of all shards; the same text is the same file. */
export function mapFile(text = halves): string {
  const file = join(folder, `${Bun.hash(text).toString(36)}.toml`)
  writeFileSync(file, text)
  return file
}

/** A service that is one of two shards. `base_url` is the same for both, and so is the signer. */
export const shardWorld = (
  id: string,
  { toml = '', baseUrl = 'https://gw.example', ...rest }: WorldOptions & { baseUrl?: string } = {},
) =>
  world({
    ...rest,
    toml: `base_url = "${baseUrl}"\n${toml}\n[shard]\nid = "${id}"\nmap = "${mapFile()}"\n`,
  })

export type ShardWorld = Awaited<ReturnType<typeof shardWorld>>

/** What a node says of what belongs to another shard. */
export async function misrouted(answer: Response): Promise<unknown> {
  const body = (await answer.json()) as { error: { type: string; metadata?: unknown } }
  return [answer.status, body.error.type, answer.headers.get('x-counterfoil-shard')]
}
