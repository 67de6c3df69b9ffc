/**
 * `npm run bench:populate [-- MIB]`: fills a volume of mode Block over ssh, from an Image of 1 GiB
 * or MIB that zstd packed. For comparison, `curl | zstd -d | dd` to a file and a `sync` of the file
 * run on the node. The variants take turns; figures are medians.
 *
 * Filling consists of an observation of the node, the job that creates, fills and attaches the
 * file, and an observation of the result. Each part is also reported by itself, and so is the job's
 * fill program run alone on the node. All run once without a checksum, and once with a checksum of
 * the download, compared to sha256sum. Requires root, loop devices, udev, curl, zstd and sshd.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../src/nodes/transport/ssh-shell.ts';
import { fillStep } from '../../src/storage/populate/fill.ts';
import type { Fill } from '../../src/storage/populate/types.ts';
import type { DesiredSparse } from '../../src/storage/types.ts';
import { carryOut, observe, planNow, runSteps } from '../support/carry-out.ts';
import { allowSources, startSourceServer } from '../support/source-server.ts';
import { startSshd } from '../support/sshd.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { median, ms, printFigures, times } from './figures.ts';

const NODE = 'n1';
const ROUNDS = 5;
const MIB = Number(process.argv[2] ?? 1024);

/** In ms. */
interface Parts {
  look: number;
  job: number;
  after: number;
}
const PARTS: Record<keyof Parts, string> = {
  look: 'the observation before',
  job: 'the job',
  after: 'the observation after',
};

if (process.getuid?.() === 0) await run();
else console.log('populate is left out: it takes root, for loop devices and udev');

async function run(): Promise<void> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    ends.push(await ensureUdev());
    const folder = await temporaryDirectory('populate');
    ends.push(folder.remove);
    const sshd = await startSshd({ nodes: [NODE] });
    ends.push(sshd.stop);
    const executor = createShellExecutor(
      createSshShell({ configFile: sshd.configFile, addressOf: () => ({}) }),
    );
    ends.push(executor.close);
    const server = await startSourceServer();
    ends.push(server.stop);
    ends.push(await allowSources('allow-address 127.0.0.1'));
    // Half of the data compresses well.
    const made = `{ head -c ${MIB / 2}M /dev/urandom; yes stowage | head -c ${MIB / 2}M; } | zstd -q -1 >"$1"`;
    await execa('sh', ['-c', made, 'sh', join(folder.path, 'disk.zst')]);
    const packed = await readFile(join(folder.path, 'disk.zst'));
    server.paths.set('/disk.zst', packed);
    const [processor] = cpus();
    console.log(`${cpus().length} processors: ${processor?.model}; Node.js ${process.version}`);
    // Other load on the machine increases all figures and decreases ratios.
    console.log(`load before: ${loadavg()[0]?.toFixed(1)}`);
    console.log(`${MIB} MiB, ${packed.length >> 20} MiB packed; medians of ${ROUNDS} rounds`);
    const sums = [undefined, createHash('sha256').update(packed).digest('hex')];
    for (const sha256 of sums) await compare(sha256);

    async function compare(sha256: string | undefined): Promise<void> {
      const parts = { look: [], job: [], after: [] } as Record<keyof Parts, number[]>;
      const filled: number[] = [];
      const typed: number[] = [];
      const programs: number[] = [];
      // The first round fills caches, and does not count.
      for (let round = 0; round <= ROUNDS; round++) {
        const sides = [
          async () => {
            const took = await fill(sha256);
            if (round === 0) return;
            for (const part of ['look', 'job', 'after'] as const) parts[part].push(took[part]);
            filled.push(took.look + took.job + took.after);
          },
          async () => {
            const took = await type(sha256 !== undefined);
            if (round > 0) typed.push(took);
          },
          async () => {
            const took = await program(sha256);
            if (round > 0) programs.push(took);
          },
        ];
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) await side();
      }
      const what = sha256 === undefined ? 'no checksum' : 'with a sha256';
      const ratioOf = (figures: readonly number[]) =>
        `${times(median(figures) / median(typed))} typed`;
      printFigures(`${what}: filled`, ms(median(filled)), spread(filled), ratioOf(filled));
      for (const [part, figures] of Object.entries(parts)) {
        printFigures(
          `${what}: of that, ${PARTS[part as keyof Parts]}`,
          ms(median(figures)),
          spread(figures),
        );
      }
      printFigures(
        `${what}: the program alone`,
        ms(median(programs)),
        spread(programs),
        ratioOf(programs),
      );
      printFigures(`${what}: typed`, ms(median(typed)), spread(typed));
    }

    function fillOf(sha256: string | undefined): Fill {
      const source = server.url('/disk.zst');
      const options = {
        ...{ source, compression: 'zstd', format: 'raw' },
        ...(sha256 === undefined ? {} : { sha256 }),
      };
      return { builtin: 'Image', what: 'Image bench/disk', options };
    }

    /** Returns the duration in ms. */
    async function program(sha256: string | undefined): Promise<number> {
      const uid = randomUUID();
      const to = join(folder.path, `${uid}.partial`);
      const sizeBytes = BigInt(MIB) << 20n;
      await writeFile(to, '');
      await truncate(to, Number(sizeBytes));
      const target = {
        path: to,
        uid,
        content: 'block',
        offsetBytes: 0n,
        sizeBytes,
        isZero: true,
      } as const;
      const { argv, stdin = '' } = fillStep(fillOf(sha256), target);
      const [file = '', ...args] = argv;
      const began = performance.now();
      await execa(file, args, { input: stdin });
      const took = performance.now() - began;
      await rm(to);
      return took;
    }

    async function fill(sha256: string | undefined): Promise<Parts> {
      const uid = randomUUID();
      const desired: DesiredSparse = {
        ...{
          type: 'sparse',
          uid,
          name: uid,
          mode: 'Block',
          fs: undefined,
          recorded: false,
          onDelete: 'Delete',
        },
        ...{ kubeletRoot: '/var/lib/kubelet', onDemand: false, readOnly: false, shared: false },
        ...{ file: join(folder.path, 'volumes', uid), sizeBytes: BigInt(MIB) << 20n },
        fill: fillOf(sha256),
      };
      const began = performance.now();
      const plan = await planNow(executor, NODE, 'provision', desired);
      if ('refusal' in plan) throw new Error(plan.refusal);
      const planned = performance.now();
      const state = await runSteps(executor, NODE, desired, plan.steps);
      if (state.state !== 'succeeded') throw new Error(JSON.stringify(state));
      const ended = performance.now();
      await observe(executor, NODE, desired);
      const took = {
        look: planned - began,
        job: ended - planned,
        after: performance.now() - ended,
      };
      await done('detach', { ...desired, recorded: true });
      await done('delete', { ...desired, recorded: true });
      await executor.purge(NODE, uid);
      return took;
    }

    async function done(operation: 'detach' | 'delete', desired: DesiredSparse): Promise<void> {
      const end = await carryOut(executor, NODE, operation, desired);
      if (typeof end === 'string') throw new Error(end);
    }

    /** Returns the duration in ms. */
    async function type(sum: boolean): Promise<number> {
      const to = join(folder.path, 'typed');
      await mkdir(to);
      const script = `
        ${sum ? 'mkfifo "$2/sum"; sha256sum <"$2/sum" >"$2/digest" &' : ''}
        curl -sSf "$1" ${sum ? '| tee "$2/sum"' : ''} | zstd -d -c | dd of="$2/file" bs=1M iflag=fullblock status=none
        wait
        sync "$2/file"`;
      const began = performance.now();
      await execa('sh', ['-c', script, 'sh', server.url('/disk.zst'), to]);
      const took = performance.now() - began;
      await rm(to, { recursive: true });
      return took;
    }
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

function spread(figures: readonly number[]): string {
  return `${ms(Math.min(...figures))} to ${ms(Math.max(...figures))}`;
}
