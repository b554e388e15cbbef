/** Tests of who is resident. */
package io.tessera.manager.residency;
