/** Where loops and long functions look at the stop word. */
package io.tessera.guardian.fence.loop;
