import type { Image } from '../../src/api/builtins/image.ts';
import { IMAGES } from '../../src/api/builtins/image.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import type { Id } from './claim-objects.ts';

/** Returns the data source of a claim that is populated from an Image. */
export const fromImage = (name: string, namespace?: string) => ({
  ...{ apiGroup: IMAGES.group, kind: IMAGES.kind, name },
  ...(namespace === undefined ? {} : { namespace }),
});

export function createImage(client: KubeClient, id: Id, spec: Image['spec']): Promise<KubeObject> {
  const [namespace = '', name = ''] = id.split('/');
  const image: Image = {
    ...{ apiVersion: `${IMAGES.group}/${IMAGES.version}`, kind: IMAGES.kind },
    ...{ metadata: { name, namespace }, spec },
  };
  return client.create<KubeObject>(IMAGES, image, { namespace });
}
