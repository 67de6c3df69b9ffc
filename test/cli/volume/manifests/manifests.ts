import { afterAll, beforeAll } from '@jest/globals';
import { stringify } from 'yaml';
import type { KubeObject } from '../../../../src/api/meta.ts';
import { stowage, type World } from '../../../support/fake-io.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

/** Manifests, and the commands that read them from standard input. */

export const volume = (
  name: string,
  spec: object = { sparseLoopDevice: { size: '1Gi' } },
): KubeObject => ({
  apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
  kind: 'Volume',
  metadata: { name },
  ...({ spec: { nodeName: 'n1', storageClassName: 'local', ...spec } } as object),
});
export const documents = (...objects: object[]) =>
  objects.map((object) => stringify(object)).join('---\n');
export const create = (text: string, flags: string[] = [], world: World = {}) =>
  stowage(['create', '-f', '-', ...flags], { stdin: text, ...world });
export const remove = (text: string, flags: string[] = [], world: World = {}) =>
  stowage(['delete', '-f', '-', ...flags], { stdin: text, ...world });
export const created = (name: string) => `volume.storage.metalk8s.scality.com/${name} created\n`;
export const whats = ({ requests }: { requests: { what: string }[] }) =>
  requests.map(({ what }) => what);

/** A manifest from MetalK8s' manual. */
export const METALK8S = `apiVersion: storage.metalk8s.scality.com/v1alpha1
kind: Volume
metadata:
  name: prometheus-data
spec:
  nodeName: bootstrap
  storageClassName: metalk8s-prometheus
  sparseLoopDevice:
    size: 10Gi
  template:
    metadata:
      labels:
        app.kubernetes.io/name: 'prometheus-operator-prometheus'
`;

/** Returns a directory for the tests of a file. Its path is set while they run. */
export function manifestDirectory(): { path: string } {
  const folder = { path: '', remove: async () => {} };
  beforeAll(async () => {
    Object.assign(folder, await temporaryDirectory('manifests'));
  });
  afterAll(() => folder.remove());
  return folder;
}
