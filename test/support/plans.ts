import type { PlanEntry } from '../../src/access/plan-config.ts'

/** Two plans to buy, with the values that their names have. */
export const soldPlans: PlanEntry[] = ['builder', 'scale'].map((id) => ({ id, limits: {} }))

/** The same in a configuration file. */
export const soldPlansToml = soldPlans.map(({ id }) => `[[plans]]\nid = "${id}"\n`).join('')
