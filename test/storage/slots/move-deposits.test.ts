import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { learnSlots } from '../../../src/app/learn-slots.ts'
import { moveSlots } from '../../../src/app/move-slots.ts'
import { slotOf } from '../../../src/kernel/shard.ts'
import {
  type Depositing,
  depositingWorld,
  tomlOf,
  units,
} from '../../billing/deposits/depositing.ts'
import { type StubChain, stubChain, transferLog } from '../../billing/deposits/stub-chain.ts'
import { promise } from '../../support/promise.ts'
import { sharedEngines } from '../../support/world.ts'
import { movingShard } from './moving.ts'
import { mapFile, ofS3 } from './shards.ts'

setDefaultTimeout(60_000)

describe.each(sharedEngines)('deposits of a slot that moves, on %s', (engine) => {
  let chain: StubChain
  let s3: Depositing
  let s4: Depositing
  beforeAll(async () => {
    chain = stubChain()
    const start = (id: string) => {
      const toml = `${tomlOf([chain.url])}[shard]\nid = "${id}"\nmap = "${mapFile()}"\n`
      return depositingWorld({ engine, url: chain.url, toml })
    }
    s3 = await start('s3')
    s4 = await start('s4')
    for (const shard of [s3, s4]) await shard.look()
  })
  afterAll(async () => {
    for (const shard of [s3, s4]) {
      expect(await shard.faults()).toEqual([])
      await shard.stop()
    }
    await chain.stop()
  })

  const move = async (from: Depositing, to: Depositing) => {
    const sides = { from: movingShard(from), to: movingShard(to), slots: [slotOf(ofS3)] }
    const outcome = await moveSlots({ ...sides, clock: from.deps.clock, waitMs: 0 })
    for (const { deps, db } of [from, to]) await learnSlots(deps, db)
    return outcome
  }
  const balances = () => Promise.all([s3, s4].map((one) => one.balance(ofS3)))

  promise`Q5 C: A deposit is credited once, wherever the slot of its sender goes meanwhile.`
  test('a credit that is not final keeps the slot where it is', async () => {
    chain.add([transferLog(ofS3, units(50))])
    chain.mine(20)
    for (const shard of [s3, s4]) await shard.look()
    expect(await s3.states()).toEqual(['credited 50'])
    expect(await move(s3, s4)).toMatchObject({ moved: false, deposits: 1 })
    chain.mine(980)
    for (const shard of [s3, s4]) await shard.look()
    expect(await s3.states()).toEqual(['finalized 50'])
  })

  promise`Q5`
  test('those on their way are credited once, whichever shard saw them first', async () => {
    chain.add([transferLog(ofS3, units(30))])
    for (const shard of [s3, s4]) await shard.look()
    chain.add([transferLog(ofS3, units(20))])
    await s4.look()
    expect([await s3.states(), await s4.states()]).toEqual([
      ['finalized 50', 'detected 30'],
      ['ignored 50', 'ignored 30', 'ignored 20'],
    ])
    expect(await move(s3, s4)).toMatchObject({ moved: true, amount: 50_000_000_000n })
    chain.mine(1000)
    for (const shard of [s3, s4]) await shard.look()
    for (const shard of [s3, s4]) await shard.look()
    expect(await balances()).toEqual([0, 100])
    expect((await s3.states()).filter((state) => !state.startsWith('ignored'))).toEqual([
      'finalized 50',
    ])
    expect(await s4.states()).toEqual(['ignored 50', 'finalized 30', 'finalized 20'])
  })

  promise`Q5`
  test('those that another shard credited stay credited once, when the slot comes back', async () => {
    expect(await move(s4, s3)).toMatchObject({ moved: true, amount: 100_000_000_000n })
    chain.add([transferLog(ofS3, units(5))])
    chain.mine(1000)
    for (let i = 0; i < 2; i++) for (const shard of [s3, s4]) await shard.look()
    expect(await balances()).toEqual([105, 0])
  })
})
