import { join } from 'node:path';
import { execa } from 'execa';

const SCRIPT = join(import.meta.dirname, '../../scripts/debian-packages.sh');

/** Installs missing Debian packages, by the name of a program in each. Throws if apt-get fails. */
export async function needPackages(packages: Record<string, string>): Promise<void> {
  const pairs = Object.entries(packages).map(([program, name]) => `${program}:${name}`);
  await execa('sh', [SCRIPT, ...pairs], { stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' });
}
