/** Which lists are believed. */
package io.tessera.guardian.trust;
