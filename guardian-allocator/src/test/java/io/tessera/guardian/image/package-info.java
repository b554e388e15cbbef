/** Module images are read from files of NVIDIA's compiler and from damaged ones. */
package io.tessera.guardian.image;
