// Where does zod come from? From here, so that it can be loaded at the moment it is needed.
export { z } from "zod";
