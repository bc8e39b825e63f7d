import { defineConfig } from 'drizzle-kit'

// `bun scripts/migration.ts <name>` runs this once for each engine.
export default process.env['DIALECT'] === 'postgresql'
  ? defineConfig({
      dialect: 'postgresql',
      schema: './src/storage/db/schema/schema.pg.ts',
      out: './drizzle/pg',
    })
  : defineConfig({
      dialect: 'sqlite',
      schema: './src/storage/db/schema/schema.sqlite.ts',
      out: './drizzle/sqlite',
    })
