/** Whether a list's word for what is listed means a vessel or an aircraft. */
export const isVehicleType = (type: string): boolean => ['vessel', 'aircraft'].includes(type.trim().toLowerCase());
