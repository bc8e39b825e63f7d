/** `slot move`: moves slots, with all of their accounts, to another shard. */
import type { Command } from 'commander'
import { findMove, giveUp, type MoveContext, moveSlots } from '../app/move-slots.ts'
import { openMoving } from '../app/open-moving.ts'
import { systemClock } from '../kernel/clock.ts'
import { toUsd } from '../kernel/money.ts'
import { parseSlots, slotsForm, slotsText } from '../storage/slots/slot-text.ts'
import { configOf, Exit, exitCodes, printJson, say, verb } from './context.ts'

type Options = Record<string, unknown> & {
  toConfig: string
  wait: string
  giveUp?: boolean
  json?: boolean
}

export function slotMoveCommand(slot: Command): void {
  verb(
    slot,
    'move',
    'move slots to another shard while both serve; run it again to go on after a crash',
  )
    .argument('<slots>', 'slots of the shard of --config, like "300" or "300-303"')
    .requiredOption('--to-config <file>', 'configuration of the shard that gets them')
    .option('--wait <seconds>', 'how long open runs may take to end before it is given up', '60')
    .option('--give-up', 'leave the slots where they are, if nothing was taken out yet')
    .action(run)
}

async function run(text: string, options: Options): Promise<void> {
  const slots = parseSlots(text)
  if (!slots || slots.length === 0) throw usage(`<slots> must be ${slotsForm}`)
  const waitMs = Number(options.wait) * 1000
  if (!(waitMs >= 0)) throw usage('--wait must be a number of seconds')
  const from = await openMoving(configOf(options))
  try {
    const to = await openMoving(configOf({ config: options.toConfig }))
    try {
      if (from.moving.id === to.moving.id) throw usage('both configurations are of one shard')
      const foreign = slots.filter((slot) => from.shard.of(slot) !== from.moving.id)
      if (foreign.length > 0) {
        throw usage(`the shard ${from.moving.id} does not have the slots ${slotsText(foreign)}`)
      }
      const sides = { from: from.moving, to: to.moving, slots, clock: systemClock, waitMs }
      await (options.giveUp ? leaveThem(sides) : moveThem(sides, options.json === true))
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
}

const usage = (why: string): Exit => new Exit(exitCodes.usage, why)

async function moveThem(moving: MoveContext, isJson: boolean): Promise<void> {
  const { from, to, slots } = moving
  const tell = (step: string) => void (isJson || say(`${step.replace('_', ' ')}`))
  const done = await moveSlots({ ...moving, tell })
  if (!done.moved) {
    const { runs, deposits, members } = done
    throw new Exit(
      exitCodes.failed,
      `Given up, and all is as before: ${runs} runs go on, ${deposits} deposits not final, ` +
        `and ${members} members are of slots that stay. Try again later, or with --wait; ` +
        'members move with the account, so name their slots too, or remove them.',
    )
  }
  const { move, accounts, amount, digest } = done
  if (isJson) {
    return printJson({
      move,
      slots,
      from: from.id,
      to: to.id,
      accounts,
      amount_nusd: `${amount}`,
      digest,
    })
  }
  say(`${accounts} accounts with ${toUsd(amount)} USD moved from ${from.id} to ${to.id} (${move}).`)
  say(
    `Give the slots ${slotsText(slots)} to ${to.id} in the file of all shards and in the balancer.`,
  )
}

async function leaveThem(moving: MoveContext): Promise<void> {
  const move = await findMove(moving)
  if (move.isNew) throw new Exit(exitCodes.failed, 'These slots do not move.')
  if (!(await giveUp(moving, move))) {
    throw new Exit(
      exitCodes.failed,
      'Their money has left already; run the command without --give-up to bring it in.',
    )
  }
  say(`The slots ${slotsText(moving.slots)} stay with the shard ${moving.from.id}.`)
}
