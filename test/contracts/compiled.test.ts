import { describe, expect, test } from 'bun:test'
import solcPackage from 'solc/package.json'
import packageJson from '../../package.json'
import { compile, deployed, readSources } from '../../scripts/contracts.ts'

const sources = await readSources()

describe('what is committed is what the sources say', () => {
  test.each(deployed)(
    'contracts/%s.json compiles again to the same bytes',
    async (name) => {
      const committed = await Bun.file(`contracts/${name}.json`).json()
      expect(committed).toEqual(compile(await readSources())[name])
    },
    30_000,
  )

  test('the compiler is the one that is pinned, by package and by pragma', () => {
    expect(packageJson.devDependencies.solc).toBe('0.8.37')
    expect(solcPackage.version).toBe('0.8.37')
    for (const source of Object.values(sources)) {
      expect(source).toContain('pragma solidity 0.8.37;')
    }
  })
})

test('no contract reads a block number or a clock, can be destroyed, or takes money', () => {
  const word = /block\.(number|timestamp)|blockhash|selfdestruct|delegatecall|payable|\.call\{/
  for (const [name, source] of Object.entries(sources)) {
    expect([name, word.exec(source)?.[0]]).toEqual([name, undefined])
  }
})

test('a compiler warning is a failure', () => {
  const source = 'pragma solidity 0.8.37; contract C { function f() public {} }'
  expect(() => compile({ 'C.sol': source })).toThrow('Warning')
})
