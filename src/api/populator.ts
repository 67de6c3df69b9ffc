import type { Toleration } from './core.ts';
import type { KubeObject } from './meta.ts';

/** Kind that `spec.dataSourceRef` of a claim names. The group has no version. */
export interface SourceKind {
  group: string;
  kind: string;
}

/** Registration of a kind that volumes are filled from (populator.storage.k8s.io/v1beta1). */
export interface VolumePopulator extends KubeObject {
  /** At the top level: the kind has no spec. */
  sourceKind: SourceKind;
}

export interface PopulatorEnv {
  name: string;
  /** Value, which may contain fields of the data source. */
  value?: string;
  /** Secret in the daemon's namespace. */
  secret?: { name: string; key: string };
}

/** Security settings of a pod. Fields that are not set run it under Pod Security `restricted`. */
export interface PopulatorSecurity {
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  fsGroup?: number;
  fsGroupChangePolicy?: 'Always' | 'OnRootMismatch';
  supplementalGroups?: number[];
  seccompProfile?: { type: 'RuntimeDefault' | 'Localhost'; localhostProfile?: string };
}

/** Capabilities that Pod Security `baseline` allows. */
export const CAPABILITIES = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** Security settings of the container. All capabilities that are not added are dropped. */
export interface PopulatorContainerSecurity {
  allowPrivilegeEscalation?: boolean;
  readOnlyRootFilesystem?: boolean;
  capabilities?: { add?: Capability[] };
}

/**
 * Pod that fills a volume. Fields of the data source in `args` and values of `env` are
 * written as `{.spec.fileName}`.
 */
export interface PopulatorPod {
  image: string;
  imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  command?: string[];
  args?: string[];
  env?: PopulatorEnv[];
  serviceAccountName?: string;
  /** Secrets in the daemon's namespace, mounted as directories of files. */
  secrets?: { name: string; mountPath: string }[];
  /** Quantities. */
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  /** Tolerations besides those of the pods that wait for the claim. */
  tolerations?: Toleration[];
  nodeSelector?: Record<string, string>;
  securityContext?: PopulatorSecurity;
  containerSecurityContext?: PopulatorContainerSecurity;
  /** Path of the volume in the container. Without it, no volumes of mode Filesystem are filled. */
  mountPath?: string;
  /** Path of the device for volumes of mode Block. */
  devicePath?: string;
}

/** Populators that run on a volume's node, without a pod. */
export const BUILTINS = ['Image', 'Archive', 'Backup'] as const;
export type Builtin = (typeof BUILTINS)[number];

/** Rule for filling volumes from objects of a kind, by either `pod` or `node`. */
export interface PopulatorDefinition extends KubeObject {
  spec: {
    sourceKind: SourceKind;
    /** API resource of the kind. */
    resource: { version: string; plural: string; scope: 'Namespaced' | 'Cluster' };
    pod?: PopulatorPod;
    node?: { builtin: Builtin };
  };
}

/** Formats a kind for people: `Hello.hello.example.com`. */
export const kindText = ({ group, kind }: SourceKind): string =>
  group === '' ? kind : `${kind}.${group}`;
