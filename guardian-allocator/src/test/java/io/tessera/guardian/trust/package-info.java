/** Tests which trust lists are accepted. */
package io.tessera.guardian.trust;
