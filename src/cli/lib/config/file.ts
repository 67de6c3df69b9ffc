import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { StowageError } from '../../../api/errors.ts';
import type { Transport } from '../../../nodes/transport/transport.ts';
import {
  FieldError,
  fieldsOf,
  host,
  list,
  mapOf,
  minionId,
  nodeName,
  number,
  oneOf,
  text,
  time,
  yesOrNo,
} from './fields.ts';
import { TRANSPORTS } from './node-settings.ts';

/** Content of a configuration file. All fields but `nodes` are named after flags of `watch`. */
export interface ConfigFile {
  transport?: Transport;
  localNode?: string[];
  sshConfig?: string;
  sshGuard?: boolean;
  saltUrl?: string;
  saltEauth?: string;
  saltUser?: string;
  saltSecretFile?: string;
  saltCaFile?: string;
  workers?: number;
  /** ms */
  retryIntervalStart?: number;
  retryIntervalMax?: number;
  /** Settings for access to nodes, by name. */
  nodes?: Map<string, NodeConfig>;
}

export interface NodeConfig {
  address?: string;
  port?: number;
  /** The id of the Salt minion. */
  minion?: string;
}

const asConfig = fieldsOf<ConfigFile>({
  transport: oneOf(...TRANSPORTS),
  localNode: list(nodeName),
  sshConfig: text,
  sshGuard: yesOrNo,
  saltUrl: text,
  saltEauth: text,
  saltUser: text,
  saltSecretFile: text,
  saltCaFile: text,
  workers: number(1, 1000),
  retryIntervalStart: time,
  retryIntervalMax: time,
  nodes: mapOf(
    nodeName,
    fieldsOf<NodeConfig>({ address: host, port: number(1, 65_535), minion: minionId }),
  ),
});

/** Reads a configuration file. Throws a StowageError that names the file and an invalid field. */
export async function readConfig(path: string): Promise<ConfigFile> {
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (cause) {
    throw new StowageError(
      'failed',
      `--config ${path} cannot be read: ${(cause as Error).message}`,
      {
        cause,
      },
    );
  }
  return parseConfig(content, path);
}

/** Parses the content of a configuration file; `path` is for messages. */
export function parseConfig(content: string, path: string): ConfigFile {
  const refuse = (found: string, cause: unknown) =>
    new StowageError('usage', `--config ${path}: ${found}`, {
      hint: 'Correct the file, as described in docs/daemon.md.',
      cause,
    });
  let value: unknown;
  try {
    value = parse(content, { logLevel: 'error', maxAliasCount: 100 });
  } catch (cause) {
    // An excerpt follows the first line.
    throw refuse(
      `it is not valid YAML: ${(cause as Error).message.split('\n')[0]?.replace(/:$/, '')}`,
      cause,
    );
  }
  try {
    return value === null ? {} : asConfig(value);
  } catch (cause) {
    const { message } = cause as Error;
    throw refuse(
      cause instanceof FieldError ? `${cause.path.replace(/^\./, '')}: ${message}` : message,
      cause,
    );
  }
}
