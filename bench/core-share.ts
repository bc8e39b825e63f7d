import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where Linux keeps the groups of its first CPU controller. */
const root = '/sys/fs/cgroup/cpu'
/** Short, so that a process that used up its share stops for a moment alone. */
const periodUs = 5000

/**
 * Lets a process have no more than a share of one core, in a group below the one that this process
 * is in.
 * @returns what lets it go
 * @throws Error where there is no such controller, or this process may not make groups
 */
export function holdToShare(pid: number, share: number): () => void {
  const own = /^\d+:(?:.+,)?cpu(?:,.+)?:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
  const parent = join(root, own ?? '')
  if (!existsSync(join(parent, 'cpu.cfs_quota_us'))) throw new Error(`no CPU quota in ${parent}`)
  const group = join(parent, `counterfoil-bench-${pid}`)
  mkdirSync(group)
  writeFileSync(join(group, 'cpu.cfs_period_us'), String(periodUs))
  writeFileSync(join(group, 'cpu.cfs_quota_us'), String(Math.round(periodUs * share)))
  writeFileSync(join(group, 'cgroup.procs'), String(pid))
  return () => {
    // A group with a process in it cannot be removed.
    if (existsSync(`/proc/${pid}`)) writeFileSync(join(parent, 'cgroup.procs'), String(pid))
    rmdirSync(group)
  }
}
