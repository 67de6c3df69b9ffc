import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { StowageError } from '../../api/errors.ts';
import { DEFAULT_GATES, type FeatureGates } from '../../api/feature-gates.ts';
import type { KubeObject } from '../../api/meta.ts';
import { INSTALL_VALUES_ANNOTATION } from '../../api/names.ts';
import {
  type Field,
  FieldError,
  fieldsOf,
  mapOf,
  number,
  objectName,
  oneOf,
  text,
  yesOrNo,
} from '../lib/config/fields.ts';
import { checkSaltUrl } from '../lib/nodes/salt.ts';
import {
  COMPONENT_LABEL,
  MANAGED_BY,
  NAME_LABEL,
  VERSION_LABEL,
} from '../lib/objects/installed-labels.ts';

/** CPU and memory, as Kubernetes quantities. */
export interface Resources {
  cpu?: string;
  memory?: string;
}

/** Settings of an installed daemon, by the names of the flags of `stowage install`. */
export interface Values {
  replicas?: number;
  transport?: 'ssh' | 'salt';
  controllers?: string;
  featureGates?: Partial<FeatureGates>;
  crossNamespaceSnapshot?: boolean;
  /** Secret with ssh's `config`, and the keys and known hosts that it names. */
  sshSecret?: string;
  sshGuard?: boolean;
  saltUrl?: string;
  saltEauth?: string;
  saltUser?: string;
  /** Secret whose key `secret` holds the password or the shared secret. */
  saltSecret?: string;
  /** Audience of a token of the daemon's ServiceAccount, in place of `saltSecret`. */
  saltAudience?: string;
  /** ConfigMap whose `ca.crt` holds the CA certificates for salt-api. */
  saltCaConfigmap?: string;
  requests?: Resources;
  limits?: Resources;
  logLevel?: 'info' | 'debug';
  nodeSelector?: Record<string, string>;
  /** Labels of all objects of the installation, and of its pods. */
  labels?: Record<string, string>;
}

/** Label values may be empty, as that of `node-role.kubernetes.io/control-plane` is. */
const labelValue: Field<string> = (value) => (value === '' ? '' : text(value));
/** YAML parses `cpu: 1` as a number. */
const quantity: Field<string> = (value) => text(typeof value === 'number' ? String(value) : value);
const resources = fieldsOf<Resources>({ cpu: quantity, memory: quantity });
const gates = Object.fromEntries(Object.keys(DEFAULT_GATES).map((name) => [name, yesOrNo]));

const FIELDS: Parameters<typeof fieldsOf<Values>>[0] = {
  replicas: number(0, 10),
  transport: oneOf('ssh', 'salt'),
  controllers: text,
  featureGates: fieldsOf<Partial<FeatureGates>>(gates as never),
  crossNamespaceSnapshot: yesOrNo,
  sshSecret: objectName,
  sshGuard: yesOrNo,
  saltUrl: text,
  saltEauth: text,
  saltUser: text,
  saltSecret: objectName,
  saltAudience: text,
  saltCaConfigmap: objectName,
  requests: resources,
  limits: resources,
  logLevel: oneOf('info', 'debug'),
  nodeSelector: (value) => Object.fromEntries(mapOf(text, labelValue)(value)),
  labels: (value) => Object.fromEntries(mapOf(text, labelValue)(value)),
};
const asValues = fieldsOf<Values>(FIELDS);

export const VALUE_NAMES = Object.keys(FIELDS) as (keyof Values)[];

/** Reads settings from a file. Throws a StowageError that names the file and the invalid field. */
export async function readValues(path: string): Promise<Values> {
  const content = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new StowageError('failed', `--values ${path} cannot be read: ${cause.message}`, {
      cause,
    });
  });
  return valuesIn(
    content,
    (found, cause) => new StowageError('usage', `--values ${path}: ${found}`, { cause }),
  );
}

/** Reads settings of earlier runs. Throws a StowageError `conflict` if they are malformed. */
export function keptValues({ metadata }: KubeObject): Values {
  const kept = metadata.annotations?.[INSTALL_VALUES_ANNOTATION] ?? '{}';
  return valuesIn(
    kept,
    (found, cause) =>
      new StowageError(
        'conflict',
        `deployment.apps/${metadata.name}: ${INSTALL_VALUES_ANNOTATION}: ${found}`,
        {
          cause,
          hint: 'To discard the settings of earlier runs, add --reset-values.',
        },
      ),
  );
}

function valuesIn(
  content: string,
  refuse: (found: string, cause: unknown) => StowageError,
): Values {
  try {
    return asValues(parse(content, { logLevel: 'error', maxAliasCount: 100 }) ?? {});
  } catch (cause) {
    const { message } = cause as Error;
    // The parser appends an excerpt after the first line.
    const [line = ''] = message.split('\n');
    const found = line.replace(/:$/, '');
    throw refuse(
      cause instanceof FieldError ? `${cause.path.replace(/^\./, '')}: ${message}` : found,
      cause,
    );
  }
}

/**
 * Merges settings: `given` overrides those of earlier runs, and a change of transport
 * drops those of the other transport. CPU and memory are merged separately. Throws a StowageError
 * `usage` for contradictory settings.
 */
export function settleValues(kept: Values, given: Values): Values {
  const { transport = kept.transport ?? 'ssh' } = given;
  const [own, other] = transport === 'salt' ? ['salt', 'ssh'] : ['ssh', 'salt'];
  const ofOther = (name: string): boolean => name.startsWith(other as string);
  const misplaced = Object.keys(given).find(ofOther);
  if (misplaced !== undefined) {
    throw new StowageError(
      'usage',
      `${flagOf(misplaced)} is for --transport ${other}, but the transport is ${own}`,
    );
  }
  const isDropped = (name: string): boolean =>
    ofOther(name) || (LOGIN.includes(name as keyof Values) && changesLogin(kept, given));
  const settled: Values = {
    ...Object.fromEntries(Object.entries(kept).filter(([name]) => !isDropped(name))),
    ...given,
  };
  for (const name of ['requests', 'limits'] as const) {
    if (given[name] !== undefined) settled[name] = { ...kept[name], ...given[name] };
  }
  checkSalt(settled);
  checkLabels(settled);
  return settled;
}

/** Settings of a login to salt-api, which go together. */
const LOGIN: readonly (keyof Values)[] = ['saltEauth', 'saltUser', 'saltSecret', 'saltAudience'];

/** Reports whether a Secret replaces a token's audience, or vice versa, which changes the user. */
const changesLogin = (kept: Values, given: Values): boolean =>
  (kept.saltSecret !== undefined && given.saltAudience !== undefined) ||
  (kept.saltAudience !== undefined && given.saltSecret !== undefined);

function checkSalt({ transport, saltUrl, saltSecret, saltAudience }: Values): void {
  if (transport !== 'salt') return;
  if (saltUrl === undefined || (saltSecret === undefined) === (saltAudience === undefined)) {
    throw new StowageError(
      'usage',
      '--transport salt of an installed daemon requires --salt-url, and one of --salt-secret and --salt-audience',
      { hint: 'Set up Salt as described in docs/salt.md.' },
    );
  }
  checkSaltUrl(saltUrl);
}

/** Labels by which upgrades and `uninstall` find objects, and the Deployment its pods. */
const OWN_LABELS: readonly string[] = [NAME_LABEL, MANAGED_BY, COMPONENT_LABEL, VERSION_LABEL];

/** Prefixes of labels that give rights: `aggregate-to-admin` adds rules to another ClusterRole. */
const RESERVED = ['rbac.authorization.k8s.io/', 'stowage.dev/'];

function checkLabels({ labels = {} }: Values): void {
  for (const label of Object.keys(labels)) {
    if (OWN_LABELS.includes(label))
      throw new StowageError('usage', `--labels: Stowage itself sets the label ${label}`);
    if (RESERVED.some((prefix) => label.startsWith(prefix)))
      throw new StowageError('usage', `--labels: ${label} would change rights of the installation`);
  }
}

const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
