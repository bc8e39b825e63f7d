/** `slot of`, `slot prefixes`, `slot move`: where accounts are, and what a balancer routes by. */
import type { Command } from 'commander'
import { markOf, shardAmong, slotOf } from '../kernel/shard.ts'
import { prefixPattern, slotsText } from '../storage/slots/slot-text.ts'
import { print, printJson } from './context.ts'
import { shardsOf } from './shard-file.ts'
import { slotMoveCommand } from './slot-move.ts'
import { readAccount } from './values.ts'

type Options = { shards: string; json?: boolean }

export function slotCommands(program: Command): void {
  const slot = program
    .command('slot')
    .description('slots of accounts, and the shards that have them')
  slot
    .command('of')
    .description('the slot of a wallet, the two characters of it, and its shard')
    .argument('<0x…>', 'address of the wallet', readAccount)
    .option('--shards <file>', 'file of all shards', 'shards.toml')
    .option('--json', 'print JSON')
    .action((account: string, options: Options) => {
      const number = slotOf(account)
      const found = { slot: number, mark: markOf(number), shard: ownerOf(number, options.shards) }
      if (options.json) return printJson({ object: 'slot', account, ...found })
      print(`slot ${found.slot}, keys begin with sk-service-${found.mark}, shard ${found.shard}`)
    })
  slot
    .command('prefixes')
    .description('a regular expression for each shard, which its slots match and no others')
    .option('--shards <file>', 'file of all shards', 'shards.toml')
    .option('--json', 'print JSON')
    .action((options: Options) => {
      const shards = shardsOf(options.shards).map(({ id, slots }) => {
        return { id, slots: slotsText(slots), pattern: prefixPattern(slots) }
      })
      if (options.json) return printJson({ object: 'list', data: shards })
      for (const { id, slots, pattern } of shards) print(`${id}  ${pattern}  ${slots}`)
    })
  slotMoveCommand(slot)
}

const ownerOf = (slot: number, file: string): string => shardAmong('', shardsOf(file)).of(slot)
