import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { needPackages } from '../../support/debian-packages.ts';
import { cached, keyOf } from '../cache.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

const PYTHON = 'Python 3.11.';

/** Python, and the path of its packages with Salt. */
export interface SaltInstallation {
  python: string;
  path: string;
}

/**
 * Installs Salt and salt-api from PyPI, once for all checkouts, as packages in a relocatable
 * directory.
 */
export async function installSalt(): Promise<SaltInstallation> {
  await needPackages({ python3: 'python3', pip3: 'python3-pip' });
  const { stdout: version } = await execa('python3', ['--version']);
  // Packages with extension modules have separate files for each Python version.
  if (!version.startsWith(PYTHON)) {
    throw new Error(
      `Salt's packages are pinned for ${PYTHON}, that of Debian 12; here is ${version}`,
    );
  }
  const { stdout: python } = await execa('python3', ['-c', 'import sys; print(sys.executable)']);
  const path = await cached(
    'salt',
    keyOf(await readFile(REQUIREMENTS), version),
    async (folder) => {
      const pip = [
        '-m',
        'pip',
        'install',
        '--quiet',
        '--no-deps',
        '--require-hashes',
        '--target',
        folder,
      ];
      await execa(python, [...pip, '--root-user-action=ignore', '-r', REQUIREMENTS], {
        timeout: 600_000,
      });
    },
  );
  return { python, path };
}
