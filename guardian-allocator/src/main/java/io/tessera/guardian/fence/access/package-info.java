/** Fences of addresses, one class for each kind of memory and access. */
package io.tessera.guardian.fence.access;
