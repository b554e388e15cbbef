/** Calls between a module's functions, by pointers, and to what the driver provides. */
package io.tessera.guardian.fence.call;
