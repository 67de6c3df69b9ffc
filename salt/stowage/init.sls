{#- Puts the list of what Stowage may work on where the module reads it: `salt MINION state.apply stowage`. In the pillar:

stowage:
  nodes: [n1]                                  # default: the minion's id
  directories: [/var/lib/metalk8s/storage/sparse]
  devices: ['/dev/disk/by-id/wwn-0x5000c500a']  # default: none
  groups: [vg0]                                # volume groups; default: none
  kubelets: [/var/lib/kubelet]                 # root folder of the kubelet, which is looked into; default: this
#}
{%- set path = salt['config.get']('stowage_allowed', '/etc/stowage/allowed') %}
{%- set allowed = salt['pillar.get']('stowage', {}) %}

stowage_allowed:
  file.managed:
    - name: {{ path }}
    - user: root
    - group: root
    - mode: '0644'
    - makedirs: True
    - dir_mode: '0755'
    - contents:
      - '# Written by Salt, from the pillar stowage.'
{%- for word, key, default in [('node', 'nodes', []), ('directory', 'directories', ['/var/lib/metalk8s/storage/sparse']), ('device', 'devices', []), ('group', 'groups', []), ('kubelet', 'kubelets', [])] %}
{%- for value in allowed.get(key, default) %}
      - {{ (word ~ ' ' ~ value) | json }}
{%- endfor %}
{%- endfor %}
