import { VERSION } from '../../api/version.ts';
import type { Connection } from '../../kube/connect.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { type CrdSkew, crdSkews } from '../lib/objects/crd-skew.ts';
import { asJson, asYaml } from '../lib/output/data.ts';
import { type Field, fields } from '../lib/output/fields.ts';
import { printable } from '../lib/output/printable.ts';

export interface VersionFlags {
  client?: boolean;
  output?: 'json' | 'yaml';
}

/** Output as docs/output.md describes it. */
interface Versions {
  client: { version: string; node: string; platform: string };
  /** Absent if no server was queried, or if it did not answer. */
  server?: { url: string; version: string };
  crds?: CrdSkew[];
}

/** Maximum number of names shown. */
const SHOWN = 3;

/** Runs `stowage version`. Prints its own version before it throws the StowageError of a server. */
export async function showVersion(
  { client, output }: VersionFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<Connection>,
): Promise<void> {
  const versions: Versions = {
    client: {
      version: VERSION,
      node: process.version,
      platform: `${process.platform}/${process.arch}`,
    },
  };
  try {
    if (!client) Object.assign(versions, await askServer(io, await connect()));
  } finally {
    if (output === 'json') io.stdout.write(asJson(versions));
    else if (output === 'yaml') io.stdout.write(asYaml(versions));
    else io.stdout.write(asText(versions));
  }
}

async function askServer(
  io: Io,
  connection: Connection,
): Promise<Required<Omit<Versions, 'client'>>> {
  const { signal } = io;
  const { gitVersion } = await connection.serverVersion(signal);
  const warn = (message: string) =>
    void io.stderr.write(`note: not checked: ${printable(message)}\n`);
  return {
    server: { url: connection.server, version: gitVersion },
    crds: await crdSkews(connection.client, signal, warn),
  };
}

function asText({ client, server, crds }: Versions): string {
  const { version, node, platform } = client;
  return fields([
    ['Client', `${version} (Node.js ${node}, ${platform})`],
    ...(server === undefined ? [] : [['Server', `${server.version} (${server.url})`] as const]),
    ...(crds === undefined
      ? []
      : [['CRDs', { fields: crds.map((crd): Field => [crd.name, worded(crd)]) }] as const]),
  ]);
}

function worded(crd: CrdSkew): string {
  switch (crd.skew) {
    case 'none':
      return 'matches this version';
    case 'unknown':
      return 'unknown';
    case 'missing':
      return 'missing';
    default: {
      const lacks = crd.lacks.length === 0 ? [] : [`lacks ${some(crd.lacks)}`];
      const extra =
        crd.extra.length === 0 ? [] : [`has ${some(crd.extra)}, which this version does not know`];
      return [crd.skew, ...lacks, ...extra].join('; ');
    }
  }
}

function some(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
  return `${names.slice(0, SHOWN).join(', ')}${more}`;
}
