/** Tests of the rules by which devices are chosen. */
package io.tessera.manager.placement;
