import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { createInformer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import { codeOf } from '../failure.ts';
import type { Io } from '../io.ts';
import { asJson, asYaml } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import { streamTable } from '../output/stream-table.ts';
import { warningLogger } from '../output/warning-logger.ts';
import { fullName } from './describe.ts';
import { volumeHeadings, volumeRow } from './table.ts';

export interface WatchVolumesOptions {
  /** None: all. */
  names: readonly string[];
  selector?: string;
  isWanted: (volume: Volume) => boolean;
  output?: 'json' | 'yaml' | 'name' | 'wide';
}

/**
 * Prints Volumes that were read already, then each again whenever it changes, over whatever breaks of the connection,
 * until the signal, whose reason is thrown. Throws, too, when the user may not watch.
 */
export async function watchVolumes(
  client: KubeClient,
  first: readonly Volume[],
  options: WatchVolumesOptions,
  io: Io,
): Promise<void> {
  const { names, selector, isWanted } = options;
  const print = printer(options.output, io);
  /** What was printed last of each, by name. */
  const shown = new Map(first.map((volume) => [volume.metadata.name, volume]));
  const { promise: ended, resolve: end } = Promise.withResolvers<unknown>();
  const logger = warningLogger(io);
  const informer = createInformer<Volume>({
    client,
    resource: VOLUMES,
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(names.length === 1 ? { fieldSelector: `metadata.name=${names[0]}` } : {}),
    clock: io.clock,
    random: Math.random,
    logger: {
      ...logger,
      // To be asked again would not change it.
      warn: (fields, message) => {
        const error: unknown = Reflect.get(fields, 'err');
        if (codeOf(error) === 'forbidden') end(error);
        else logger.warn(fields, message);
      },
    },
  });
  const gone = (volume: Volume) => {
    if (shown.delete(volume.metadata.name)) print([volume], true);
  };
  informer.onChange(({ type, object }) => {
    if (names.length > 0 && !names.includes(object.metadata.name)) return;
    const last = shown.get(object.metadata.name);
    if (type === 'deleted' || !isWanted(object)) {
      if (last !== undefined) gone(type === 'deleted' ? object : last);
      return;
    }
    if (last !== undefined && isSame(last, object)) return;
    shown.set(object.metadata.name, object);
    print([object], false);
  });

  print(first, false);
  informer.start();
  if (io.signal.aborted) end(io.signal.reason);
  io.signal.addEventListener('abort', () => end(io.signal.reason), { once: true });
  informer.synced.then(
    () => {
      // Between what was read and the informer's first list.
      for (const volume of shown.values()) {
        if (informer.get(volume.metadata.name) === undefined) gone(volume);
      }
    },
    () => {},
  );
  const reason = await ended;
  await informer.stop();
  throw reason;
}

const isSame = (a: Volume, b: Volume): boolean =>
  a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;

/** `gone` shows in a table only: as data it is the last state, as kubectl prints it. */
function printer(
  output: WatchVolumesOptions['output'],
  io: Io,
): (volumes: readonly Volume[], gone: boolean) => void {
  const write = (text: string) => void io.stdout.write(text);
  const each = (text: (volume: Volume) => string) => (volumes: readonly Volume[]) => {
    for (const volume of volumes) write(text(volume));
  };
  switch (output) {
    case 'json':
      return each(asJson);
    case 'yaml':
      return each((volume) => `---\n${asYaml(volume)}`);
    case 'name':
      return each(({ metadata }) => `${printable(fullName(metadata.name))}\n`);
    default: {
      const wide = output === 'wide';
      const rows = streamTable(volumeHeadings(wide), write);
      return (volumes, gone) => rows(volumes.map((volume) => volumeRow(volume, wide, io.clock.now(), gone)));
    }
  }
}
