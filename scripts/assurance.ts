/** `bun scripts/assurance.ts`: writes what proves and what keeps each promise into docs/. */
import { assurancePage } from './assurance/page.ts'

await Bun.write('docs/assurance.md', assurancePage())
