import type { Group } from './row.ts'

export const servers: Group = {
  title: 'Several servers',
  rows: [
    {
      id: 'N1',
      severity: 'H',
      promise:
        'A second server on the same data folder or the same database file is refused, by ' +
        'whatever name, also after lock.db was deleted.',
      tests: [
        [
          'test/binary/second-server.test.ts',
          'is refused after lock.db was deleted, and names the process that runs; that one goes on',
        ],
        [
          'test/binary/second-server.test.ts',
          'is refused under another data folder, by a symbolic link and by a hard link',
        ],
        [
          'test/binary/second-server.test.ts',
          'starts after the first was killed, and on a copy of the folder beside it',
        ],
        [
          'test/binary/stop.test.ts',
          'a second server on the same data folder is refused and says why; the first',
        ],
        [
          'test/db/lock.test.ts',
          'is not taken where its file may only be read: that would keep nobody away',
        ],
      ],
      guards: [
        ['src/db/lock.ts', 'lockDataFolder'],
        ['src/db/file-lock.ts', 'lockInode'],
      ],
    },
  ],
}
