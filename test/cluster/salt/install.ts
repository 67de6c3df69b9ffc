import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { cached, keyOf } from '../cache.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
/** Debian's, by what each is needed for. */
const PACKAGES = { python: 'python3', pip: 'python3-pip' };

/** What runs Salt's programs: Python, and where it finds Salt. */
export interface SaltInstallation {
  python: string;
  path: string;
}

/** Salt and salt-api from PyPI, once for all checkouts. They are packages in a folder, so that it can be anywhere. */
export async function installSalt(): Promise<SaltInstallation> {
  await ensurePip();
  const { stdout: version } = await execa('python3', ['--version']);
  const { stdout: python } = await execa('python3', ['-c', 'import sys; print(sys.executable)']);
  const path = await cached('salt', keyOf(await readFile(REQUIREMENTS), version), async (folder) => {
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--require-hashes', '--target', folder];
    await execa(python, [...pip, '--root-user-action=ignore', '-r', REQUIREMENTS], { timeout: 600_000 });
  });
  return { python, path };
}

async function ensurePip(): Promise<void> {
  const { failed } = await execa('python3', ['-m', 'pip', '--version'], { reject: false });
  if (!failed) return;
  const packages = Object.values(PACKAGES);
  process.stderr.write(`cluster: installing Debian packages: ${packages.join(' ')}\n`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await execa('apt-get', ['update'], { env });
  await execa('apt-get', ['install', '-y', '--no-install-recommends', ...packages], { env });
}
