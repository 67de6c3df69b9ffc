import type { Volume } from '../../api/volume.ts';
import type { Io } from '../io.ts';
import { asJson, asYaml } from '../output/data.ts';
import { isScreen } from '../output/is-screen.ts';
import { liveArea } from '../output/live-area.ts';
import { printable } from '../output/printable.ts';
import { streamTable } from '../output/stream-table.ts';
import { table } from '../output/table.ts';
import { fullName } from './describe.ts';
import { volumeHeadings, volumeRow } from './table.ts';

export interface WatchPrinter {
  /** Those that changed, or are gone: deleted, or not among the selected any more. */
  print(volumes: readonly Volume[], gone: boolean): void;
  /** Brings ages up to date. */
  refresh(): void;
  /** Called before something else is written on the terminal. */
  leave(): void;
}

export interface WatchPrinterOptions {
  output?: 'json' | 'yaml' | 'name' | 'wide';
  headers?: boolean;
  sort: (volumes: readonly Volume[]) => Volume[];
}

/** A table is drawn again in its place on a terminal; all else is written in lines, or documents, one after another. */
export function watchPrinter(options: WatchPrinterOptions, io: Io): WatchPrinter {
  const { output } = options;
  if (output !== 'json' && output !== 'yaml' && output !== 'name' && isScreen(io))
    return redrawn(options, io);
  return { print: inLines(options, io), refresh() {}, leave() {} };
}

function redrawn({ output, headers, sort }: WatchPrinterOptions, io: Io): WatchPrinter {
  const wide = output === 'wide';
  const area = liveArea(io.stdout);
  const shown = new Map<string, Volume>();
  /** Shown once more. */
  let going = new Set<string>();
  const refresh = () => {
    const rows = sort([...shown.values()]).map((volume) =>
      volumeRow(volume, wide, io.clock.now(), going.has(volume.metadata.name)),
    );
    const width = wide ? undefined : io.stdout.columns;
    area.draw(table(volumeHeadings(wide), rows, { headings: headers, width }));
  };
  return {
    print(volumes, gone) {
      for (const name of going) shown.delete(name);
      for (const volume of volumes) shown.set(volume.metadata.name, volume);
      going = new Set(gone ? volumes.map(({ metadata }) => metadata.name) : []);
      refresh();
    },
    refresh,
    leave: area.leave,
  };
}

/** `gone` shows in a table only: as data it is the last state, as kubectl prints it. */
function inLines({ output, headers }: WatchPrinterOptions, io: Io): WatchPrinter['print'] {
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
      const rows = streamTable(volumeHeadings(wide), write, { headings: headers });
      return (volumes, gone) => rows(volumes.map((volume) => volumeRow(volume, wide, io.clock.now(), gone)));
    }
  }
}
