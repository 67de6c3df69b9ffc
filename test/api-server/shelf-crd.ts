/**
 * A namespaced CRD with features that disk-crd.ts lacks: every check of a value, and both kinds of
 * lists.
 */
export const SHELF_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'shelves.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'shelves', singular: 'shelf', kind: 'Shelf', listKind: 'ShelfList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: 'Height', type: 'integer', jsonPath: '.spec.height' },
          {
            name: 'Wood',
            type: 'string',
            jsonPath: '.spec.wood',
            priority: 1,
            description: 'Of what it is.',
          },
          { name: 'Since', type: 'date', jsonPath: '.spec.since' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  height: { type: 'integer', format: 'int32', minimum: 1, maximum: 10 },
                  load: { type: 'number', multipleOf: 0.5, exclusiveMinimum: true, minimum: 0 },
                  wood: { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 5 },
                  since: { type: 'string', format: 'date-time' },
                  open: { type: 'boolean', default: true },
                  note: { type: 'string', nullable: true },
                  books: { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string' } },
                  tags: {
                    type: 'array',
                    maxItems: 9,
                    'x-kubernetes-list-type': 'set',
                    items: { type: 'string' },
                  },
                  slots: {
                    type: 'array',
                    maxItems: 9,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 20 },
                        width: { type: 'integer', maximum: 100 },
                      },
                      'x-kubernetes-validations': [
                        { rule: 'self.width >= oldSelf.width', message: 'a slot does not shrink' },
                      ],
                    },
                  },
                  colours: {
                    type: 'object',
                    additionalProperties: { type: 'string', enum: ['red', 'blue'] },
                  },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
                'x-kubernetes-validations': [
                  {
                    rule: '!has(self.wood) || self.wood != "oak" || has(self.height)',
                    messageExpression: '"height is needed for " + self.wood',
                  },
                  { rule: '!has(self.load) || self.load < 100.0' },
                ],
              },
            },
          },
        },
      },
    ],
  },
};
