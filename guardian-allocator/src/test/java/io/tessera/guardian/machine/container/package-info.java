/** Tests of reading and writing cubins. */
package io.tessera.guardian.machine.container;
