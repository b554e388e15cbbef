/**
 * {@code tessera doctor}: one check in each file, which returns findings; see {@link io.tessera.cli.doctor.DoctorCheck} for how
 * to add one. Nothing is changed, and only the probe is started.
 */
package io.tessera.cli.doctor;
