/** Tests of residency. */
package io.tessera.manager.residency;
