import type { Command } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { connectFor } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { objectNames } from '../lib/parse.ts';
import { VOLUME_NAMES } from '../lib/resource-names.ts';

export default function describeVolume(describe: Command, io: Io): void {
  const [plural, singular, ...short] = VOLUME_NAMES;
  const command = describe
    .command(singular)
    .aliases([plural, ...short])
    .description('show details of Volumes: spec, status, PersistentVolume, claim, pods, events')
    .argument('<name...>', 'names of Volumes', objectNames)
    .action(async (names: string[], _flags, command: Command) => {
      const { describeVolumes } = await import('../volume/describe-volume.ts');
      await describeVolumes(names, io, (await connectFor(command, io)).client);
    });
  addExamples(command, ['stowage describe volume data1']);
}
