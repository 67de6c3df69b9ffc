/** A CRD whose schema has an example of each feature that the server implements. */
export const DISK_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'disks.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'disks', singular: 'disk', kind: 'Disk', shortNames: ['dk'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['nodeName'],
                properties: {
                  nodeName: {
                    type: 'string',
                    minLength: 1,
                    'x-kubernetes-validations': [
                      { rule: 'self == oldSelf', message: 'nodeName is immutable' },
                    ],
                  },
                  size: { 'x-kubernetes-int-or-string': true },
                  mode: { type: 'string', enum: ['Filesystem', 'Block'], default: 'Filesystem' },
                  template: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  slots: {
                    type: 'array',
                    items: {
                      type: 'object',
                      properties: { port: { type: 'integer', format: 'int32' } },
                      'x-kubernetes-validations': [
                        { rule: 'self.port < 100', message: 'port is too high' },
                      ],
                    },
                  },
                },
                'x-kubernetes-validations': [
                  {
                    rule: '!has(oldSelf.size) || has(self.size) && quantity(string(self.size)).compareTo(quantity(string(oldSelf.size))) >= 0',
                    message: 'size can only grow',
                  },
                ],
              },
              status: {
                type: 'object',
                properties: {
                  phase: { type: 'string' },
                  conditions: {
                    type: 'array',
                    items: {
                      type: 'object',
                      properties: { type: { type: 'string' }, status: { type: 'string' } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};
