import { join } from 'node:path';
import { execa } from 'execa';

const SCRIPT = join(import.meta.dirname, '../../scripts/debian-packages.sh');

/** Installs what is missing: Debian packages, by a program that each brings. Throws when apt-get cannot. */
export async function needPackages(packages: Record<string, string>): Promise<void> {
  const pairs = Object.entries(packages).map(([program, name]) => `${program}:${name}`);
  await execa('sh', [SCRIPT, ...pairs], { stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' });
}
