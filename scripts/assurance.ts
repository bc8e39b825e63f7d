/** `bun scripts/assurance.ts`: writes what proves and what keeps each promise into reports/. */
import { assurancePage } from './assurance/page.ts'

await Bun.write('reports/assurance.md', assurancePage())
