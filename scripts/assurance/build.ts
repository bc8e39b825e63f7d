import type { Group } from './row.ts'

export const build: Group = {
  title: 'Build and packages',
  rows: [
    {
      id: 'L1',
      severity: 'H',
      promise: 'Every dependency is one version, written in the lockfile.',
      tests: [['test/dependencies.test.ts', 'every dependency is pinned to one version']],
      guards: [['package.json', 'dependencies']],
    },
    {
      id: 'L2',
      severity: 'H',
      promise: 'No package runs code when it is installed.',
      tests: [
        [
          'test/dependencies.test.ts',
          'no package runs code at install, and fresh releases wait three days',
        ],
      ],
      guards: [['bunfig.toml', 'ignoreScripts']],
    },
    {
      id: 'L4',
      severity: 'H',
      promise: 'No package is older than the first sound one.',
      tests: [['test/dependencies.test.ts', 'no %s older than %s is installed']],
      guards: [['bun.lock', 'packages']],
    },
    {
      id: 'L5',
      severity: 'H',
      promise: 'Every package comes from the registry with its hash.',
      tests: [
        ['test/dependencies.test.ts', 'every package comes from the registry with its integrity'],
      ],
      guards: [['bun.lock', 'packages']],
    },
    {
      id: 'L6',
      severity: 'C',
      promise: 'The executable takes nothing from the folder that it is started in.',
      tests: [
        ['test/binary/hostile-folder.test.ts', 'runs nothing that lies there'],
        ['test/binary/hostile-folder.test.ts', 'takes no setting from its .env'],
      ],
      guards: [['scripts/build.ts', 'autoloadDotenv']],
    },
    {
      id: 'L7',
      severity: 'H',
      promise: 'No text is evaluated, and none is put into SQL.',
      tests: [['test/house.test.ts', 'the outside world enters through its own files']],
      guards: [['src/storage/db/statements.ts', 'binder']],
    },
    {
      id: 'L9',
      severity: 'H',
      promise: 'The same commit gives the same release, byte by byte, in any folder.',
      tests: [
        ['test/packaging/release.test.ts', 'is the same bytes in any order of its entries'],
        [
          'test/packaging/release-run.test.ts',
          'has the same bytes from two clones in different folders, and one changed byte is found',
        ],
      ],
      guards: [
        ['scripts/build.ts', '__dirname'],
        ['scripts/release/tar.ts', 'compareBytes'],
      ],
    },
    {
      id: 'L13',
      severity: 'H',
      promise: 'A changed download is found, and so is a changed list of sums.',
      tests: [
        [
          'test/packaging/release.test.ts',
          'are checked by sha256sum, which finds one changed byte and names the file',
        ],
        [
          'test/packaging/release.test.ts',
          'are signed by a key that stays where it is, and a changed sum has no valid signature',
        ],
      ],
      guards: [['scripts/release/sums.ts', 'writeSums']],
    },
    {
      id: 'L14',
      severity: 'H',
      promise:
        'No package that is removed or purged takes the ledger or the key of the receipts along.',
      tests: [['test/packaging/debian.test.ts', 'never deletes what is in the data folder']],
      guards: [['packaging/debian/postrm', 'rmdir']],
    },
    {
      id: 'L15',
      severity: 'H',
      promise: 'The image has no shell, and its server is not root.',
      tests: [
        [
          'test/packaging/image.test.ts',
          'are the executable, libraries and certificates: no shell, no setuid file',
        ],
        ['test/packaging/image.test.ts', 'runs as what the Dockerfile says, and never as root'],
      ],
      guards: [['scripts/release/image.ts', 'rootOf']],
    },
  ],
}
