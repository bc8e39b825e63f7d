import { compile } from '../../../scripts/contracts.ts'
import { toChecksumAddress } from '../../../src/verify/address.ts'
import { type Chain, type Contract, openChain } from '../../contracts/chain.ts'
import { treasury } from './stub-chain.ts'

export type UsdChain = Chain & { usd: Contract; toml: string; rpc: Rpc }
type Rpc = (method: string, ...params: unknown[]) => Promise<unknown>

/** An anvil with a stablecoin of six decimals, and what a configuration says of it. */
export async function openUsdChain(...flags: string[]): Promise<UsdChain> {
  const chain = await openChain(...flags)
  const usd = await deployUsd(chain)
  const toml = `[chain]
rpc_urls = ["${chain.url}"]
treasury = "${treasury}"
token = "${toChecksumAddress(usd.address)}"
[deposits]
poll_ms = 200
`
  return { ...chain, usd, toml, rpc: (method, ...params) => ask(chain.url, method, params) }
}

/** A stablecoin on a chain; every call makes another. */
export async function deployUsd(chain: Chain): Promise<Contract> {
  const name = 'MockUsd.sol'
  const source = await Bun.file(new URL(`../../contracts/${name}`, import.meta.url)).text()
  const { MockUsd } = compile({ [name]: source })
  if (!MockUsd) throw new Error('not compiled')
  return chain.deploy(MockUsd)
}

export async function ask(url: string, method: string, params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const answer = await (await fetch(url, { method: 'POST', headers, body })).json()
  if (answer.error) throw Object.assign(new Error(answer.error.message), answer.error)
  return answer.result
}
