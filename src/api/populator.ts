import type { KubeObject } from './meta.ts';

/** What `spec.dataSourceRef` of a claim names. The group has no version. */
export interface SourceKind {
  group: string;
  kind: string;
}

/** Says that somebody fills volumes from a kind (populator.storage.k8s.io/v1beta1). */
export interface VolumePopulator extends KubeObject {
  /** At the top: it has no spec. */
  sourceKind: SourceKind;
}

export interface PopulatorEnv {
  name: string;
  /** Fields of the data source may be in it. */
  value?: string;
  /** Of the daemon's namespace. */
  secret?: { name: string; key: string };
}

/** The pod that fills a volume. Fields of the data source stand in `args` and values of `env`, as `{.spec.fileName}`. */
export interface PopulatorPod {
  image: string;
  imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  command?: string[];
  args?: string[];
  env?: PopulatorEnv[];
  serviceAccountName?: string;
  /** Of the daemon's namespace, as folders of files. */
  secrets?: { name: string; mountPath: string }[];
  /** Quantities. */
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  /** Where the volume is in the container; without it no volumes of mode Filesystem are filled. */
  mountPath?: string;
  /** The same for mode Block. */
  devicePath?: string;
}

/** What fills volumes on their node, without a pod. */
export const BUILTINS = ['Image', 'Archive', 'Backup'] as const;
export type Builtin = (typeof BUILTINS)[number];

/** How volumes are filled from objects of a kind: by one of `pod` and `node`. */
export interface PopulatorDefinition extends KubeObject {
  spec: {
    sourceKind: SourceKind;
    /** Where the API server has objects of the kind. */
    resource: { version: string; plural: string; scope: 'Namespaced' | 'Cluster' };
    pod?: PopulatorPod;
    node?: { builtin: Builtin };
  };
}

/** As people write it: `Hello.hello.example.com`. */
export const kindText = ({ group, kind }: SourceKind): string =>
  group === '' ? kind : `${kind}.${group}`;
