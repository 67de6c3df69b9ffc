import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';

const RUN = '/run/udev';

/**
 * A udev daemon for as long as it is needed: the machine's own if one answers, else one of ours.
 * @returns ends ours, and removes what it left in /run/udev; does nothing if the machine has its own
 */
export async function ensureUdev(): Promise<() => Promise<void>> {
  if (await answers()) return async () => {};
  // One that is there and does not answer is the machine's: to take its socket away would leave it deaf.
  if (await runs()) throw new Error('systemd-udevd runs but does not answer; restart it');
  const before = existsSync(RUN) ? new Set(await readdir(RUN)) : undefined;
  // A socket that nobody listens on any more was someone else's, who is gone.
  await rm(`${RUN}/control`, { force: true });
  before?.delete('control');
  const daemon = execa('/lib/systemd/systemd-udevd', [], { stdio: 'ignore', reject: false });
  let ended = false;
  const end = daemon.then(() => {
    ended = true;
  });
  const deadline = Date.now() + 10_000;
  while (!(await answers())) {
    if (ended || Date.now() > deadline) {
      daemon.kill('SIGKILL');
      throw new Error(`systemd-udevd ${ended ? 'ended at once' : 'does not answer'}; it must be run as root`);
    }
    await sleep(20);
  }
  return async () => {
    await execa('udevadm', ['settle', '--timeout=5'], { reject: false });
    daemon.kill('SIGTERM');
    await end;
    if (before === undefined) {
      await rm(RUN, { recursive: true, force: true });
      return;
    }
    for (const name of await readdir(RUN)) {
      if (!before.has(name)) await rm(`${RUN}/${name}`, { recursive: true, force: true });
    }
  };
}

/** Also false where a dead daemon left its socket. */
async function answers(): Promise<boolean> {
  if (!existsSync(`${RUN}/control`)) return false;
  const ping = await execa('udevadm', ['control', '--ping', '--timeout=2'], {
    reject: false,
    stdio: 'ignore',
  });
  return ping.exitCode === 0;
}

async function runs(): Promise<boolean> {
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
    if (name.trim() === 'systemd-udevd') return true;
  }
  return false;
}
