/**
 * `bun scripts/contracts.ts`: compiles `contracts/` and writes `contracts/<Name>.json`, the ABI and
 * the creation code of what is deployed. The same sources give the same bytes on every machine: a
 * test compiles again and compares.
 */
import solc from 'solc'

/** A file `contracts/<Name>.json`. */
export type Artefact = { compiler: string; evmVersion: string; abi: unknown[]; bytecode: string }

/** What is deployed. Rfc6962 has only internal functions: it is part of both. */
export const deployed = ['AnchorRegistry', 'ReceiptVerifier'] as const

const settings = {
  evmVersion: 'paris',
  optimizer: { enabled: true, runs: 1_000_000 },
  // A hash of sources and paths inside the bytecode would change it with every comment.
  metadata: { bytecodeHash: 'none' },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
}

if (import.meta.main) {
  const artefacts = compile(await readSources())
  for (const name of deployed) {
    const text = JSON.stringify(artefacts[name], null, 2)
    await Bun.write(`contracts/${name}.json`, `${text}\n`)
    console.log(`contracts/${name}.json`, text.length)
  }
}

/** The sources by file name, as imports name them. */
export async function readSources(): Promise<Record<string, string>> {
  const names = ['Rfc6962.sol', 'AnchorRegistry.sol', 'ReceiptVerifier.sol']
  const read = async (name: string) => [name, await Bun.file(`contracts/${name}`).text()] as const
  return Object.fromEntries(await Promise.all(names.map(read)))
}

/** Every contract of the sources by its name. @throws on an error or a warning of the compiler. */
export function compile(sources: Record<string, string>): Record<string, Artefact> {
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      Object.entries(sources).map(([name, content]) => [name, { content }]),
    ),
    settings,
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output
  if (output.errors?.length) {
    throw new Error(output.errors.map((error) => error.formattedMessage).join('\n'))
  }
  const contracts = Object.values(output.contracts ?? {}).flatMap(Object.entries<Compiled>)
  return Object.fromEntries(
    contracts.map(([name, { abi, evm }]) => [
      name,
      {
        compiler: `solc ${solc.version()}`,
        evmVersion: settings.evmVersion,
        abi,
        bytecode: `0x${evm.bytecode.object}`,
      },
    ]),
  )
}

type Output = {
  errors?: { formattedMessage: string }[]
  contracts?: Record<string, Record<string, Compiled>>
}

type Compiled = { abi: unknown[]; evm: { bytecode: { object: string } } }
